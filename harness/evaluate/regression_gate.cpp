// harness/evaluate/regression_gate.cpp - runs the cheap gates, then rounds, look by look.
#include "harness/evaluate/regression_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/rounds/round_source.h"
#include "harness/evaluate/untimed_gates.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Pairs = std::vector<TimedWorkload>;

// The inputs of every step of one gate.
struct GatedPair {
  const Runtime& runtime;
  const Configuration& baseline;
  const Configuration& candidate;
  const EvaluatePlan& plan;
  const GateRule& rule;
  Observer& observer;
};

void check_baseline_supports(const GatedPair& comparison) {
  for (const Workload* workload : comparison.plan.workloads) {
    if (const std::string why = comparison.runtime.unsupported(comparison.baseline, workload->axes); !why.empty()) {
      throw EnvironmentError(
          fmt::format("the stored {} does not support {} here: {}", comparison.baseline.label(), workload->name, why));
    }
  }
}

GateResult check_correctness(const GatedPair& comparison) {
  const auto& candidate = comparison.candidate;
  const std::uint64_t seed = derive_seed(comparison.plan.seed, "gate correctness");
  const auto cases = correctness_plan(comparison.runtime, candidate, names_of(comparison.plan.workloads), seed);
  const auto report = [&](int done, int all, const std::string& what) {
    comparison.observer.progress(
        {.what = "verify " + candidate.label() + " on " + what, .done = done, .expected = all});
  };
  return correctness_gate(comparison.runtime, candidate, cases, seed, report);
}

// Builds both arms for every workload; nullopt if the result needs no timing.
std::optional<Pairs> pass_untimed_gates(const GatedPair& comparison, RegressionResult& result) {
  check_baseline_supports(comparison);
  if (!record_gate(result, metadata_gate(comparison.runtime, comparison.candidate, comparison.plan.workloads))) {
    return std::nullopt;
  }
  BuildGate built = build_gate(comparison.runtime, comparison.baseline, comparison.candidate, comparison.plan.workloads,
                               "the stored", comparison.observer);
  if (!record_gate(result, std::move(built.gate))) {
    return std::nullopt;
  }
  if (have_same_code(built.pairs)) {
    result.verdict = GateVerdict::passed;
    result.sentence = "machine code identical to the baseline's: nothing to time";
    return std::nullopt;
  }
  if (!record_gate(result, check_correctness(comparison))) {
    return std::nullopt;
  }
  return std::move(built.pairs);
}

void fail_timing(const GatedPair& comparison, const Failure& failure, RegressionResult& result) {
  const std::string what = fmt::format("{}, {}", to_string(failure.outcome), failure.evidence);
  if (failure.slot == 0) {
    throw EnvironmentError(
        fmt::format("the stored {} failed while it was timed: {}", comparison.baseline.label(), what));
  }
  record_gate(result, {.gate = "timing", .outcome = failure.outcome, .evidence = what});
  if (failure.slot != 1) {
    result.verdict = GateVerdict::undecided;
    result.sentence = "a round failed while both were timed: " + what;
  }
}

Pairs with_inputs(const GatedPair& comparison, Pairs pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    comparison.observer.progress({.what = "inputs of " + pairs[i].name});
    pairs[i].pool =
        make_pool(comparison.runtime, *comparison.plan.workloads[i], derive_seed(comparison.plan.seed, "gate pool"));
  }
  return pairs;
}

void time_pairs(const GatedPair& comparison, Pairs pairs, RegressionResult& result) {
  const EvaluatePlan& plan = comparison.plan;
  const std::size_t workloads = pairs.size();
  const std::string what = "gate " + comparison.candidate.label();
  RoundRunner runner(comparison.runtime, std::move(pairs), plan.preset, plan.seed, what, plan.cache, plan.rounds);
  const GatedRounds rounds{.source = in_turns(comparison.runtime, runner, comparison.observer),
                           .what = what,
                           .workloads = workloads,
                           .preset = plan.preset,
                           .rule = comparison.rule,
                           .observer = comparison.observer};
  if (const auto failure = run_gated_rounds(rounds, result)) {
    fail_timing(comparison, *failure, result);
  }
}

}  // namespace

RegressionResult run_regression_gate(const Runtime& runtime, const Configuration& baseline,
                                     const Configuration& candidate, const EvaluatePlan& plan, const GateRule& rule,
                                     Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  const GatedPair comparison{runtime, baseline, candidate, plan, rule, observer};
  RegressionResult result;
  if (std::optional<Pairs> pairs = pass_untimed_gates(comparison, result)) {
    time_pairs(comparison, with_inputs(comparison, std::move(*pairs)), result);
  }
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace apo
