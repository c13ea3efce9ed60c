// harness/evaluate/evaluate.cpp - runs the gates: metadata, build, resources, correctness, sanitizers, timing, regimes.
#include "harness/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/guards.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/timing_gate.h"
#include "harness/evaluate/untimed_gates.h"
#include "harness/runtime/timed_workload.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Pairs = std::vector<TimedWorkload>;

bool pass_metadata(const Evaluation& evaluation) {
  const StageRange range("gate metadata");
  return add_gate(evaluation,
                  metadata_gate(evaluation.runtime, evaluation.experiment.candidate, evaluation.plan.workloads));
}

std::optional<Pairs> pass_build(const Evaluation& evaluation) {
  const StageRange range("implement");
  Experiment& experiment = evaluation.experiment;
  const EvaluatePlan& plan = evaluation.plan;
  BuildGate built = build_gate(evaluation.runtime, experiment.incumbent, experiment.candidate, plan.workloads,
                               "the incumbent", evaluation.observer);
  experiment.incumbent_build = std::move(built.incumbent);
  experiment.candidate_build = std::move(built.candidate);
  if (evaluation.hooks.on_build) {
    evaluation.hooks.on_build(experiment.candidate_build, true);
    evaluation.hooks.on_build(experiment.incumbent_build, false);
  }
  if (!add_gate(evaluation, std::move(built.gate))) {
    return std::nullopt;
  }
  for (TimedWorkload& pair : built.pairs) {
    if (const auto floor = plan.floor_ns.find(pair.name); floor != plan.floor_ns.end()) {
      pair.floor_ns = floor->second;
    }
  }
  return std::move(built.pairs);
}

std::string judged_before(const Evaluation& evaluation) {
  const Experiment& experiment = evaluation.experiment;
  return evaluation.plan.judged_before
             ? evaluation.plan.judged_before(experiment.candidate_build, experiment.incumbent_build)
             : "";
}

bool pass_resources(const Evaluation& evaluation, const Pairs& pairs) {
  const StageRange range("gate resources");
  const auto start = std::chrono::steady_clock::now();
  GateResult gate{.gate = "resources"};
  if (!evaluation.plan.time_same_code && guard_is_on(Guard::same_code) && have_same_code(pairs)) {
    gate.outcome = Outcome::no_change;
    gate.evidence = "machine code identical to the incumbent's: nothing to time";
  } else if (const std::string before = judged_before(evaluation); !before.empty()) {
    gate.outcome = Outcome::no_change;
    gate.evidence = "machine code identical to that of " + before;
  } else {
    gate.evidence = resources_text(evaluation.experiment.candidate_build);
  }
  gate.seconds = seconds_since(start);
  return add_gate(evaluation, std::move(gate));
}

// Returns the seed of inputs of large workloads that the correctness gates of several experiments share.
std::uint64_t shared_seed(const Evaluation& evaluation) {
  const Axes& axes = evaluation.plan.workloads.front()->axes;
  return derive_seed(evaluation.plan.seed, "shared",
                     inputs_group(*evaluation.runtime.family, axes, evaluation.experiment.id));
}

// The CPU's findings precede the GPU's: they have the line of a race or a stray access.
bool pass_correctness(const Evaluation& evaluation, BackgroundGates& on_cpu) {
  const Runtime& runtime = evaluation.runtime;
  const Experiment& experiment = evaluation.experiment;
  const EvaluatePlan& plan = evaluation.plan;
  const Configuration& candidate = experiment.candidate;
  if (plan.trusted) {
    return true;
  }
  // The reported inputs of a wrong candidate must not reveal the inputs of the next one.
  const std::uint64_t seed = one_way_seed(plan.seed, "correctness", static_cast<std::uint64_t>(experiment.id));
  const std::vector<std::string> workloads = names_of(plan.workloads);
  const std::uint64_t shared = shared_seed(evaluation);
  const auto cases = correctness_plan(runtime, candidate, workloads, seed, shared);
  std::vector<GateResult> on_device;
  run_correctness_gates(runtime, candidate, cases, seed, plan.sanitize, evaluation.observer, [&](GateResult gate) {
    on_device.push_back(std::move(gate));
    return on_device.back().outcome == Outcome::valid;
  });
  std::vector<GateResult> gates = on_cpu.take();
  std::ranges::move(on_device, std::back_inserter(gates));
  return std::ranges::all_of(gates, [&](GateResult& gate) { return add_gate(evaluation, std::move(gate)); });
}

std::optional<Pairs> pass_untimed_gates(const Evaluation& evaluation) {
  BackgroundGates on_cpu(evaluation.plan.check_on_cpu);  // an early return cancels it
  if (!pass_metadata(evaluation)) {
    return std::nullopt;
  }
  std::optional<Pairs> pairs = pass_build(evaluation);
  if (!pairs || !pass_resources(evaluation, *pairs) || !pass_correctness(evaluation, on_cpu)) {
    return std::nullopt;
  }
  return pairs;
}

void draw_inputs(const Evaluation& evaluation, Pairs& pairs) {
  const Runtime& runtime = evaluation.runtime;
  const EvaluatePlan& plan = evaluation.plan;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Workload& workload = *plan.workloads[i];
    const StageRange drawing("inputs of " + workload.name);
    evaluation.observer.progress({.what = "inputs of " + workload.name});
    if (pairs[i].has_host_code() && !plan.trusted) {
      pairs[i].other_regime = make_other_regime(runtime, workload, shared_seed(evaluation));
    }
    // They serve the whole campaign: no process outlives a round, so none can remember them.
    pairs[i].pool = make_pool(runtime, workload, derive_seed(plan.seed, "pool"));
  }
}

// Returns how many cases fit into a quarter of the memory, with their tensors in double and in their own dtypes.
std::size_t cases_at_once(const Family& family, const CheckCase& one) {
  constexpr double kBytesOfElement = 16;
  const double bytes = kBytesOfElement * static_cast<double>(element_count(family, one.axes));
  return static_cast<std::size_t>(std::max(1.0, static_cast<double>(physical_memory_bytes()) / 4 / bytes));
}

GateResult regimes_gate(const Evaluation& evaluation, const std::vector<CheckCase>& cases, std::uint64_t seed) {
  const Runtime& runtime = evaluation.runtime;
  GateResult gate{.gate = "regimes", .evidence = fmt::format("right in all of {} cases", cases.size())};
  for (std::size_t begin = 0; begin < cases.size() && gate.outcome == Outcome::valid;) {
    const std::size_t count = std::min(cases_at_once(*runtime.family, cases[begin]), cases.size() - begin);
    const std::vector<CheckCase> some(cases.begin() + static_cast<std::ptrdiff_t>(begin),
                                      cases.begin() + static_cast<std::ptrdiff_t>(begin + count));
    const GateResult one =
        correctness_gate(runtime, evaluation.experiment.candidate, some, derive_seed(seed, "cases", begin),
                         [&](int done, int, const std::string& what) {
                           evaluation.observer.progress({.what = "verify every regime of " + what,
                                                         .done = static_cast<int>(begin) + done,
                                                         .expected = static_cast<int>(cases.size())});
                         });
    gate.seconds += one.seconds;
    if (one.outcome != Outcome::valid) {
      gate.outcome = one.outcome;
      gate.evidence = one.evidence;
      gate.wrong = one.wrong;
    }
    begin += count;
  }
  return gate;
}

// The untimed gates sample two regimes and can miss a rare one.
void check_every_regime(const Evaluation& evaluation) {
  Experiment& experiment = evaluation.experiment;
  const std::vector<CheckCase> cases =
      every_regime_plan(*evaluation.runtime.family, names_of(evaluation.plan.workloads));
  if (experiment.judgement->verdict != Verdict::accepted || evaluation.plan.trusted || cases.size() < 2) {
    return;
  }
  const std::uint64_t seed = one_way_seed(evaluation.plan.seed, "regimes", static_cast<std::uint64_t>(experiment.id));
  if (!add_gate(evaluation, regimes_gate(evaluation, cases, seed))) {
    const GateResult& last = experiment.gates.back();
    experiment.judgement->verdict = Verdict::reverted;
    experiment.judgement->reason = Reason::gate_failed;
    experiment.judgement->sentence =
        fmt::format("Faster and wrong: {} at the gate '{}': {}", to_string(last.outcome), last.gate, last.evidence);
  }
}

void finish(const Evaluation& evaluation, double seconds) {
  evaluation.experiment.judgement->seconds = seconds;
  evaluation.experiment.finished_at = utc_now();
}

}  // namespace

Judgement not_timed(const GateResult& last) {
  Judgement judgement{.verdict = Verdict::reverted, .reason = Reason::gate_failed};
  judgement.sentence =
      fmt::format("Not timed: {} at the gate '{}': {}", to_string(last.outcome), last.gate, last.evidence);
  judgement.rule_version = kRuleVersion;
  return judgement;
}

std::optional<ReadyToTime> run_untimed_gates(const Evaluation& evaluation) {
  const auto start = std::chrono::steady_clock::now();
  if (std::optional<Pairs> pairs = pass_untimed_gates(evaluation)) {
    return ReadyToTime{.pairs = std::move(*pairs), .seconds = seconds_since(start)};
  }
  evaluation.experiment.judgement = not_timed(evaluation.experiment.gates.back());
  finish(evaluation, seconds_since(start));
  return std::nullopt;
}

void run_timing(const Evaluation& evaluation, ReadyToTime ready) {
  const StageRange range("gate timing");
  const auto start = std::chrono::steady_clock::now();
  draw_inputs(evaluation, ready.pairs);
  time_experiment(evaluation, std::move(ready.pairs));
  check_every_regime(evaluation);
  finish(evaluation, ready.seconds + seconds_since(start));
}

void evaluate(const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan, Observer& observer,
              const EvaluateHooks& hooks) {
  const StageRange range("evaluate " + experiment.candidate.label());
  const Evaluation evaluation{runtime, experiment, plan, observer, hooks};
  if (std::optional<ReadyToTime> ready = run_untimed_gates(evaluation)) {
    run_timing(evaluation, std::move(*ready));
  }
}

}  // namespace apo
