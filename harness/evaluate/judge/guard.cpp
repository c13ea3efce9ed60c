// harness/evaluate/judge/guard.cpp - the non-inferiority guard of each workload, of its tail and of its mean.
#include "harness/evaluate/judge/guard.h"

#include <cmath>
#include <map>

#include "harness/core/text.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

struct ArmTimes {
  double incumbent_ns = 0;
  double candidate_ns = 0;
};

struct Effects {
  std::vector<double> typical;
  std::vector<double> tail;  // ln(p90 of the incumbent / p90 of the candidate)
  std::vector<ArmTimes> times;
};

// The sum of an arm's calls in a round.
ArmTimes times_of(const Round& round, const RoundWorkload& workload) {
  ArmTimes times;
  for (const Block& block : workload.blocks) {
    for (const Sample& sample : block.samples) {
      const bool candidate = (sample.slot == 0) == round.candidate_in_slot0;
      (candidate ? times.candidate_ns : times.incumbent_ns) += static_cast<double>(sample.ns);
    }
  }
  return times;
}

// What all calls of the candidate together took, in terms of the incumbent's, less one standard error of this ratio
// over the rounds (Cochran, Sampling Techniques, 3rd ed., 6.4). The typical call says nothing of the one in 25 that
// takes six times as long.
double least_ratio_of_sums(const std::vector<ArmTimes>& rounds) {
  const auto n = static_cast<double>(rounds.size());
  double incumbent = 0, candidate = 0, squares = 0;
  for (const ArmTimes& times : rounds) {
    incumbent += times.incumbent_ns;
    candidate += times.candidate_ns;
  }
  const double ratio = candidate / incumbent;
  for (const ArmTimes& times : rounds) {
    squares += std::pow(times.candidate_ns - ratio * times.incumbent_ns, 2);
  }
  return ratio - std::sqrt(squares * n / (n - 1)) / incumbent;
}

std::map<std::string, Effects> by_workload(const std::vector<Round>& rounds) {
  std::map<std::string, Effects> effects;
  for (const Round& round : rounds) {
    for (const RoundWorkload& workload : round.workloads) {
      Effects& all = effects[workload.workload];
      all.typical.push_back(workload.effect);
      all.tail.push_back(std::log(workload.incumbent_p90_ns / workload.candidate_p90_ns));
      all.times.push_back(times_of(round, workload));
    }
  }
  return effects;
}

}  // namespace

std::string guard_failure(const std::vector<Round>& rounds, const JudgePreset& preset) {
  const std::string limit = format_percent(-preset.guard_margin);
  const std::map<std::string, Effects> workloads = by_workload(rounds);
  // One of several workloads may lose the margin in all its calls too, the only one nothing.
  const double most = workloads.size() == 1 ? 1 : std::exp(preset.guard_margin);
  for (const auto& [name, effects] : workloads) {
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
    if (const double ratio = least_ratio_of_sums(effects.times); ratio > most) {
      return "all calls of workload " + name + " together took longer, by " + format_percent(ratio - 1) + " at least";
    }
  }
  return "";
}

}  // namespace apo
