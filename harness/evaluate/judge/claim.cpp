// harness/evaluate/judge/claim.cpp - compares calls on fresh inputs with the saving of the timed calls.
#include "harness/evaluate/judge/claim.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "harness/core/guards.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

constexpr double kFreshShare = 0.25;

// Of one workload, a value a round, in calls of the incumbent, which are taken as the effect takes them: a candidate
// that is fast in less than half of the samples moves the effect and no median.
struct Savings {
  std::vector<double> claimed;
  std::vector<double> fresh;
  std::vector<double> difference;  // fresh - share * claimed
};

std::map<std::string, Savings> savings_by_workload(const std::vector<Round>& rounds) {
  std::map<std::string, Savings> all;
  for (const Round& round : rounds) {
    for (const RoundWorkload& workload : round.workloads) {
      const CrossChecks& checks = workload.checks;
      if (checks.fresh_incumbent && checks.fresh_candidate) {
        const double call_ns = typical_calls(workload, round.candidate_in_slot0).incumbent_ns;
        Savings& savings = all[workload.workload];
        savings.claimed.push_back(1 - std::exp(-workload.effect));
        savings.fresh.push_back((*checks.fresh_incumbent - *checks.fresh_candidate) / call_ns);
        savings.difference.push_back(savings.fresh.back() - kFreshShare * savings.claimed.back());
      }
    }
  }
  return all;
}

std::string percent_of_call(const std::vector<double>& values) {
  return format_g(100 * WalshAverages(values).hodges_lehmann(), 3) + " %";
}

}  // namespace

std::string claim_failure(const std::vector<Round>& rounds, const JudgePreset& preset) {
  if (!guard_is_on(Guard::fresh_inputs)) {
    return "";
  }
  for (const auto& [name, savings] : savings_by_workload(rounds)) {
    if (WalshAverages(savings.claimed).hodges_lehmann() > 0 &&
        WalshAverages(savings.difference).upper(preset.guard_alpha) < 0) {
      return fmt::format(
          "on workload {} the timed calls save {} of the incumbent's time, and calls on inputs made right before them "
          "save {}",
          name, percent_of_call(savings.claimed), percent_of_call(savings.fresh));
    }
  }
  return "";
}

}  // namespace apo
