// harness/evaluate/judge/guard.cpp - the non-inferiority guard of each workload, of its tail and of its mean.
#include "harness/evaluate/judge/guard.h"

#include <cmath>
#include <map>

#include "harness/core/text.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

struct Effects {
  std::vector<double> typical;
  std::vector<double> tail;  // ln(p90 of the incumbent / p90 of the candidate)
  double incumbent_ns = 0;   // of all its calls together
  double candidate_ns = 0;   // of as many
};

// The typical call says nothing of the one in 25 that takes six times as long.
void add_times(const Round& round, const RoundWorkload& workload, Effects& to) {
  for (const Block& block : workload.blocks) {
    for (const Sample& sample : block.samples) {
      const bool candidate = (sample.slot == 0) == round.candidate_in_slot0;
      (candidate ? to.candidate_ns : to.incumbent_ns) += static_cast<double>(sample.ns);
    }
  }
}

std::map<std::string, Effects> by_workload(const std::vector<Round>& rounds) {
  std::map<std::string, Effects> effects;
  for (const Round& round : rounds) {
    for (const RoundWorkload& workload : round.workloads) {
      Effects& all = effects[workload.workload];
      all.typical.push_back(workload.effect);
      all.tail.push_back(std::log(workload.incumbent_p90_ns / workload.candidate_p90_ns));
      add_times(round, workload, all);
    }
  }
  return effects;
}

}  // namespace

std::string guard_failure(const std::vector<Round>& rounds, const JudgePreset& preset) {
  const std::string limit = format_percent(-preset.guard_margin);
  for (const auto& [name, effects] : by_workload(rounds)) {
    const WalshAverages typical(effects.typical);
    const double lower = typical.lower(preset.guard_alpha);
    if (!(lower > -preset.guard_margin)) {
      return "workload " + name + " may have lost more than " + limit + ": " +
             format_percent(typical.hodges_lehmann()) + ", 99 % lower bound " + format_percent(lower);
    }
    const double tail = WalshAverages(effects.tail).hodges_lehmann();
    if (tail < -preset.guard_margin) {
      return "the slowest tenth of the calls of workload " + name + " lost more than " + limit + ": " +
             format_percent(tail);
    }
    if (effects.candidate_ns > effects.incumbent_ns) {
      return "all calls of workload " + name + " together took longer: " +
             format_percent(std::log(effects.incumbent_ns / effects.candidate_ns));
    }
  }
  return "";
}

}  // namespace apo
