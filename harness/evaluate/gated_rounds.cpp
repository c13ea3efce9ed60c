// harness/evaluate/gated_rounds.cpp - takes rounds up to each look and turns the rule's answer into a verdict.
#include "harness/evaluate/gated_rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"

namespace apo {
namespace {

using EffectsByWorkload = std::vector<std::vector<double>>;  // of the rounds that count

std::string percent_of(double margin) {
  return format_g(100 * std::expm1(margin), 3) + " %";
}

const Round& add_round(Round round, const JudgePreset& preset, RegressionResult& result, EffectsByWorkload& effects) {
  round.void_why = void_reason(round, busy_seconds(result.rounds), preset);
  summarise_round(round);
  if (round.void_why.empty()) {
    for (std::size_t w = 0; w < effects.size(); ++w) {
      effects[w].push_back(round.commands ? round.effect : round.workloads[w].effect);
    }
  }
  result.rounds.push_back(std::move(round));
  return result.rounds.back();
}

bool too_many_void(const GatedRounds& plan, const EffectsByWorkload& effects, const RegressionResult& result) {
  const auto voids = std::ssize(result.rounds) - std::ssize(effects.front());
  const auto planned = std::ssize(effects.front()) + result.state.rounds_wanted;
  return static_cast<double>(voids) > plan.preset.void_fraction * static_cast<double>(planned);
}

// The widest distance from an estimate to its lower bound: a variant as fast as its baseline would pass with it.
double resolved(const GateState& state) {
  double widest = 0;
  for (const WorkloadAnswer& workload : state.workloads) {
    widest = std::max(widest, workload.effect - workload.lower);
  }
  return widest;
}

void conclude(const GatedRounds& plan, int rounds, RegressionResult& result) {
  const std::string margin = percent_of(plan.rule.margin);
  switch (result.state.answer) {
    case GateAnswer::passed:
      result.verdict = GateVerdict::passed;
      result.sentence = fmt::format("not {} by more than {}", plan.worse, margin);
      break;
    case GateAnswer::regressed:
      result.verdict = GateVerdict::regressed;
      result.sentence = fmt::format("{} by more than {}", plan.worse, margin);
      break;
    case GateAnswer::undecided:
      result.verdict = GateVerdict::undecided;
      result.sentence = fmt::format("this machine cannot tell with a margin of {}: after {} rounds it resolves {}",
                                    margin, rounds, percent_of(resolved(result.state)));
      break;
  }
}

void leave_undecided(std::string sentence, RegressionResult& result) {
  result.verdict = GateVerdict::undecided;
  result.sentence = std::move(sentence);
}

}  // namespace

bool record_gate(RegressionResult& result, GateResult gate) {
  const bool passed = gate.outcome == Outcome::valid;
  if (!passed) {
    result.verdict = GateVerdict::failed;
    result.sentence = fmt::format("{} at the gate '{}': {}", to_string(gate.outcome), gate.gate, gate.evidence);
  }
  result.gates.push_back(std::move(gate));
  return passed;
}

std::optional<Failure> run_gated_rounds(const GatedRounds& plan, RegressionResult& result) {
  EffectsByWorkload effects(plan.workloads);
  const auto start = std::chrono::steady_clock::now();
  const int most = plan.rule.looks.back().rounds;
  double waited_s = 0;
  result.state = gate_state(plan.rule, effects);
  for (int index = 0; !result.state.finished; ++index) {
    const auto done = static_cast<int>(effects.front().size());
    const double spent_s = seconds_since(start) - waited_s;
    plan.observer.progress({.what = plan.what,
                            .done = done,
                            .expected = most,
                            .seconds_left = done == 0 ? 0 : seconds_since(start) / done * (most - done)});
    if (plan.budget_s > 0 && spent_s >= plan.budget_s) {
      leave_undecided(fmt::format("the budget of {} was spent after {} rounds", format_seconds(plan.budget_s), done),
                      result);
      return std::nullopt;
    }
    auto round = plan.source(RoundStage::gate, index, waited_s);
    if (!round) {
      return round.failure();
    }
    const Round& added = add_round(*round, plan.preset, result, effects);
    if (plan.on_round) {
      plan.on_round(added);
    }
    const bool noisy = too_many_void(plan, effects, result);
    result.state = gate_state(plan.rule, effects);
    if (noisy) {
      leave_undecided(fmt::format("{} of {} rounds were void: this machine is too noisy to judge on",
                                  result.rounds.size() - effects.front().size(), result.rounds.size()),
                      result);
      return std::nullopt;
    }
  }
  conclude(plan, static_cast<int>(effects.front().size()), result);
  record_gate(result, {.gate = "timing",
                       .evidence = fmt::format("{} rounds in {} processes; {}", result.rounds.size(),
                                               processes_of(result.rounds), result.sentence),
                       .seconds = seconds_since(start) - waited_s});
  return std::nullopt;
}

}  // namespace apo
