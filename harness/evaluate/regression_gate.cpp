// harness/evaluate/regression_gate.cpp - runs the cheap gates, then rounds, look by look.
#include "harness/evaluate/regression_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/turn.h"
#include "harness/evaluate/untimed_gates.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Pairs = std::vector<TimedWorkload>;
using Effects = std::vector<std::vector<double>>;  // by workload, of the rounds that count

// What every step of one gate is given.
struct Comparison {
  const Runtime& runtime;
  const Configuration& baseline;
  const Configuration& candidate;
  const EvaluatePlan& plan;
  const GateRule& rule;
  Observer& observer;
};

std::string slower_by(double margin) {
  return format_g(100 * std::expm1(margin), 3) + " %";
}

// True when it was passed; else the result says where the candidate failed.
bool add_gate(RegressionResult& result, GateResult gate) {
  const bool passed = gate.outcome == Outcome::valid;
  if (!passed) {
    result.verdict = GateVerdict::failed;
    result.sentence = fmt::format("{} at the gate '{}': {}", to_string(gate.outcome), gate.gate, gate.evidence);
  }
  result.gates.push_back(std::move(gate));
  return passed;
}

void check_baseline_supports(const Comparison& comparison) {
  for (const Workload* workload : comparison.plan.workloads) {
    if (const std::string why = comparison.runtime.unsupported(comparison.baseline, workload->axes); !why.empty()) {
      throw EnvironmentError(
          fmt::format("the stored {} does not support {} here: {}", comparison.baseline.label(), workload->name, why));
    }
  }
}

GateResult check_correctness(const Comparison& comparison) {
  const auto& candidate = comparison.candidate;
  const std::uint64_t seed = derive_seed(comparison.plan.seed, "gate correctness");
  const auto cases = correctness_plan(comparison.runtime, candidate, names_of(comparison.plan.workloads), seed);
  const auto report = [&](int done, int all, const std::string& what) {
    comparison.observer.progress(
        {.what = "verify " + candidate.label() + " on " + what, .done = done, .expected = all});
  };
  return correctness_gate(comparison.runtime, candidate, cases, seed, report);
}

// Both arms built for every workload; nullopt when the result stands without a timing.
std::optional<Pairs> pass_untimed_gates(const Comparison& comparison, RegressionResult& result) {
  check_baseline_supports(comparison);
  if (!add_gate(result, metadata_gate(comparison.runtime, comparison.candidate, comparison.plan.workloads))) {
    return std::nullopt;
  }
  BuildGate built = build_gate(comparison.runtime, comparison.baseline, comparison.candidate, comparison.plan.workloads,
                               "the stored", comparison.observer);
  if (!add_gate(result, std::move(built.gate))) {
    return std::nullopt;
  }
  if (have_same_code(built.pairs)) {
    result.verdict = GateVerdict::passed;
    result.sentence = "machine code identical to the baseline's: nothing to time";
    return std::nullopt;
  }
  if (!add_gate(result, check_correctness(comparison))) {
    return std::nullopt;
  }
  return std::move(built.pairs);
}

void add_round(Round round, const JudgePreset& preset, RegressionResult& result, Effects& effects) {
  round.void_why = void_reason(round, busy_seconds(result.rounds), preset);
  summarise_round(round);
  if (round.void_why.empty()) {
    for (std::size_t w = 0; w < effects.size(); ++w) {
      effects[w].push_back(round.workloads[w].effect);
    }
  }
  result.rounds.push_back(std::move(round));
}

bool too_many_void(const Comparison& comparison, const Effects& effects, const RegressionResult& result) {
  const auto voids = std::ssize(result.rounds) - std::ssize(effects.front());
  const auto planned = std::ssize(effects.front()) + result.state.rounds_wanted;
  return static_cast<double>(voids) > comparison.plan.preset.void_fraction * static_cast<double>(planned);
}

void fail_timing(const Comparison& comparison, const Failure& failure, RegressionResult& result) {
  const std::string what = fmt::format("{}, {}", to_string(failure.outcome), failure.evidence);
  if (failure.slot == 0) {
    throw EnvironmentError(
        fmt::format("the stored {} failed while it was timed: {}", comparison.baseline.label(), what));
  }
  add_gate(result, {.gate = "timing", .outcome = failure.outcome, .evidence = what});
}

// The widest distance from an estimate to its lower bound: a variant as fast as its baseline would pass with it.
double resolved(const GateState& state) {
  double widest = 0;
  for (const WorkloadAnswer& workload : state.workloads) {
    widest = std::max(widest, workload.effect - workload.lower);
  }
  return widest;
}

void conclude(const Comparison& comparison, int rounds, RegressionResult& result) {
  const std::string margin = slower_by(comparison.rule.margin);
  switch (result.state.answer) {
    case GateAnswer::passed:
      result.verdict = GateVerdict::passed;
      result.sentence = "not slower by more than " + margin;
      break;
    case GateAnswer::regressed:
      result.verdict = GateVerdict::regressed;
      result.sentence = "slower by more than " + margin;
      break;
    case GateAnswer::undecided:
      result.verdict = GateVerdict::undecided;
      result.sentence = fmt::format("this machine cannot tell with a margin of {}: after {} rounds it resolves {}",
                                    margin, rounds, slower_by(resolved(result.state)));
      break;
  }
}

Pairs with_inputs(const Comparison& comparison, Pairs pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    comparison.observer.progress({.what = "inputs of " + pairs[i].name});
    pairs[i].pool =
        make_pool(comparison.runtime, *comparison.plan.workloads[i], derive_seed(comparison.plan.seed, "gate pool"));
  }
  return pairs;
}

// Rounds until the rule decides, too many are void, or the candidate fails.
void time_pairs(const Comparison& comparison, Pairs pairs, RegressionResult& result) {
  const EvaluatePlan& plan = comparison.plan;
  Effects effects(pairs.size());
  RoundRunner runner(comparison.runtime, std::move(pairs), plan.preset, plan.seed,
                     "gate " + comparison.candidate.label(), plan.cache, plan.rounds);
  const auto start = std::chrono::steady_clock::now();
  const int most = comparison.rule.looks.back().rounds;
  double waited_s = 0;
  result.state = gate_state(comparison.rule, effects);
  for (int index = 0; !result.state.finished; ++index) {
    const auto done = static_cast<int>(effects.front().size());
    comparison.observer.progress({.what = "gate " + comparison.candidate.label(),
                                  .done = done,
                                  .expected = most,
                                  .seconds_left = done == 0 ? 0 : seconds_since(start) / done * (most - done)});
    auto round = run_in_turn(comparison.runtime, runner, RoundStage::gate, index, comparison.observer, waited_s);
    if (!round) {
      return fail_timing(comparison, round.failure(), result);
    }
    add_round(std::move(*round), plan.preset, result, effects);
    const bool noisy = too_many_void(comparison, effects, result);
    result.state = gate_state(comparison.rule, effects);
    if (noisy) {
      result.verdict = GateVerdict::undecided;
      result.sentence = fmt::format("{} of {} rounds were void: this machine is too noisy to judge on",
                                    result.rounds.size() - effects.front().size(), result.rounds.size());
      return;
    }
  }
  conclude(comparison, static_cast<int>(effects.front().size()), result);
  add_gate(result, {.gate = "timing",
                    .evidence = fmt::format("{} rounds in {} processes; {}", result.rounds.size(),
                                            processes_of(result.rounds), result.sentence),
                    .seconds = seconds_since(start) - waited_s});
}

}  // namespace

RegressionResult run_regression_gate(const Runtime& runtime, const Configuration& baseline,
                                     const Configuration& candidate, const EvaluatePlan& plan, const GateRule& rule,
                                     Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  const Comparison comparison{runtime, baseline, candidate, plan, rule, observer};
  RegressionResult result;
  if (std::optional<Pairs> pairs = pass_untimed_gates(comparison, result)) {
    time_pairs(comparison, with_inputs(comparison, std::move(*pairs)), result);
  }
  result.seconds = seconds_since(start);
  return result;
}

std::string_view to_string(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::passed:
      return "passed";
    case GateVerdict::regressed:
      return "regressed";
    case GateVerdict::failed:
      return "failed";
    case GateVerdict::undecided:
      break;
  }
  return "undecided";
}

}  // namespace apo
