// harness/evaluate/judge/guard.cpp - the non-inferiority guard of each workload, of its tail and of its mean.
#include "harness/evaluate/judge/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "harness/core/normal.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

// The samples of a round, in typical calls of its incumbent: rounds with different clocks or layouts pool.
struct RoundCalls {
  std::vector<double> incumbent;
  std::vector<double> candidate;
};

struct WorkloadCalls {
  std::vector<double> effects;
  std::vector<RoundCalls> rounds;
};

struct Tail {
  double quantile;
  const char* words;
};
constexpr std::array<Tail, 2> kTails = {{{0.9, "tenth"}, {0.99, "hundredth"}}};

RoundCalls calls_of(const Round& round, const RoundWorkload& workload) {
  const double call_ns = typical_calls(workload, round.candidate_in_slot0).incumbent_ns * workload.repetitions;
  RoundCalls calls;
  for (const Block& block : workload.blocks) {
    for (const Sample& sample : block.samples) {
      const bool candidate = (sample.slot == 0) == round.candidate_in_slot0;
      (candidate ? calls.candidate : calls.incumbent).push_back(static_cast<double>(sample.ns) / call_ns);
    }
  }
  return calls;
}

std::map<std::string, WorkloadCalls> by_workload(const std::vector<Round>& rounds) {
  std::map<std::string, WorkloadCalls> workloads;
  for (const Round& round : rounds) {
    for (const RoundWorkload& workload : round.workloads) {
      WorkloadCalls& calls = workloads[workload.workload];
      calls.effects.push_back(workload.effect);
      calls.rounds.push_back(calls_of(round, workload));
    }
  }
  return workloads;
}

// What all calls of the candidate together took, in terms of the incumbent's, less so many standard errors of this
// ratio over the rounds (Cochran, Sampling Techniques, 3rd ed., 6.4). The typical call says nothing of the one in 25
// that takes six times as long.
double least_ratio_of_sums(const std::vector<RoundCalls>& rounds, double errors) {
  const auto n = static_cast<double>(rounds.size());
  std::vector<std::pair<double, double>> sums;  // of each round
  double incumbent = 0, candidate = 0, squares = 0;
  for (const RoundCalls& calls : rounds) {
    sums.emplace_back(std::accumulate(calls.incumbent.begin(), calls.incumbent.end(), 0.0),
                      std::accumulate(calls.candidate.begin(), calls.candidate.end(), 0.0));
    incumbent += sums.back().first;
    candidate += sums.back().second;
  }
  const double ratio = candidate / incumbent;
  for (const auto& [of_incumbent, of_candidate] : sums) {
    squares += std::pow(of_candidate - ratio * of_incumbent, 2);
  }
  return ratio - errors * std::sqrt(squares * n / (n - 1)) / incumbent;
}

double nearest_rank(std::vector<double> values, double quantile) {
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(quantile * static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

std::vector<double> pooled(const std::vector<RoundCalls>& rounds, std::vector<double> RoundCalls::*arm) {
  std::vector<double> all;
  for (const RoundCalls& round : rounds) {
    all.insert(all.end(), (round.*arm).begin(), (round.*arm).end());
  }
  return all;
}

double count_from(const std::vector<double>& values, double limit) {
  return static_cast<double>(std::ranges::count_if(values, [&](double value) { return value >= limit; }));
}

// How many standard errors more calls of the candidate are slow than of the incumbent. Slow is what reaches the
// quantile of the calls of both, those of the candidate shortened by the margin. Were its tail no longer than that,
// each round's difference would have either sign alike; a burst of the machine is in one round, and weighs as one.
double excess_of_slow_calls(std::vector<RoundCalls> rounds, double quantile, double margin) {
  for (RoundCalls& calls : rounds) {
    std::ranges::for_each(calls.candidate, [&](double& call) { call /= std::exp(margin); });
  }
  std::vector<double> both = pooled(rounds, &RoundCalls::candidate);
  const std::vector<double> incumbent = pooled(rounds, &RoundCalls::incumbent);
  both.insert(both.end(), incumbent.begin(), incumbent.end());
  const double slow = nearest_rank(std::move(both), quantile);
  double sum = 0, squares = 0;
  for (const RoundCalls& calls : rounds) {
    const double difference = count_from(calls.candidate, slow) - count_from(calls.incumbent, slow);
    sum += difference;
    squares += difference * difference;
  }
  return squares == 0 ? 0 : sum / std::sqrt(squares);
}

std::string failure_of_typical(const std::string& workload, const std::vector<double>& effects,
                               const JudgePreset& preset, Proof proof) {
  const WalshAverages typical(effects);
  const double lower = typical.lower(preset.guard_alpha);
  const double upper = typical.upper(preset.guard_alpha);
  const bool lost = upper < -preset.guard_margin;
  if (!lost && (proof == Proof::beyond_doubt || lower > -preset.guard_margin)) {
    return "";
  }
  return fmt::format("workload {} {} more than {}: {}, 99 % {} bound {}", workload, lost ? "lost" : "may have lost",
                     format_percent(-preset.guard_margin), format_percent(typical.hodges_lehmann()),
                     lost ? "upper" : "lower", format_percent(lost ? upper : lower));
}

std::string failure_of_tail(const std::string& workload, const std::vector<RoundCalls>& rounds, const Tail& tail,
                            const JudgePreset& preset) {
  if (excess_of_slow_calls(rounds, tail.quantile, preset.guard_margin) <= normal_quantile(1 - preset.guard_alpha)) {
    return "";
  }
  const double ratio = nearest_rank(pooled(rounds, &RoundCalls::incumbent), tail.quantile) /
                       nearest_rank(pooled(rounds, &RoundCalls::candidate), tail.quantile);
  return fmt::format("the slowest {} of the calls of workload {} lost more than {}: {}", tail.words, workload,
                     format_percent(-preset.guard_margin), format_percent(std::log(ratio)));
}

std::string failure_of_mean(const std::string& workload, const std::vector<RoundCalls>& rounds, double most,
                            double errors) {
  const double ratio = least_ratio_of_sums(rounds, errors);
  return ratio > most ? fmt::format("all calls of workload {} together took longer, by {} at least", workload,
                                    format_percent(std::log(ratio)))
                      : "";
}

}  // namespace

std::string guard_failure(const std::vector<Round>& rounds, const JudgePreset& preset, Proof proof) {
  const std::map<std::string, WorkloadCalls> workloads = by_workload(rounds);
  // One of several workloads may lose the margin in all its calls too, the only one nothing.
  const double most = workloads.size() == 1 ? 1 : std::exp(preset.guard_margin);
  const double errors = proof == Proof::doubt ? 1 : normal_quantile(1 - preset.guard_alpha);
  for (const auto& [name, calls] : workloads) {
    std::string failure = failure_of_typical(name, calls.effects, preset, proof);
    failure = failure.empty() ? failure_of_mean(name, calls.rounds, most, errors) : failure;
    for (const Tail& tail : kTails) {
      failure = failure.empty() ? failure_of_tail(name, calls.rounds, tail, preset) : failure;
    }
    if (!failure.empty()) {
      return failure;
    }
  }
  return "";
}

}  // namespace apo
