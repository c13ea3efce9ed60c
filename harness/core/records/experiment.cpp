// harness/core/records/experiment.cpp - whether an experiment has an effect, and which stage it comes from.
#include "harness/core/records/experiment.h"

#include <algorithm>
#include <cmath>

namespace apo {
namespace {

constexpr double kLargestEffect = 50;  // e^50: no clock spans that, so such a number is a fault and not an effect

}  // namespace

bool has_effect(const Judgement& judgement) {
  return judgement.reason != Reason::gate_failed && judgement.reason != Reason::interrupted && judgement.rounds > 0 &&
         std::fabs(judgement.effect) < kLargestEffect;  // also false for NaN
}

bool has_effect(const Experiment& experiment) {
  return experiment.judgement && experiment.outcome == Outcome::valid && has_effect(*experiment.judgement);
}

RoundStage effect_stage(const Experiment& experiment) {
  const Judgement& judgement = *experiment.judgement;
  const bool confirmed = judgement.verdict == Verdict::accepted || judgement.reason == Reason::confirm_failed ||
                         std::any_of(experiment.rounds.begin(), experiment.rounds.end(), [](const Round& round) {
                           return round.stage == RoundStage::confirm && round.void_why.empty();
                         });
  return confirmed ? RoundStage::confirm : RoundStage::search;
}

}  // namespace apo
