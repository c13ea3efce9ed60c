// harness/evaluate/judge/guard.cpp - the non-inferiority guard of each workload, and the tail guard.
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
};

std::map<std::string, Effects> by_workload(const std::vector<Round>& rounds) {
  std::map<std::string, Effects> effects;
  for (const Round& round : rounds) {
    for (const RoundWorkload& workload : round.workloads) {
      Effects& all = effects[workload.workload];
      all.typical.push_back(workload.effect);
      all.tail.push_back(std::log(workload.incumbent_p90_ns / workload.candidate_p90_ns));
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
  }
  return "";
}

}  // namespace apo
