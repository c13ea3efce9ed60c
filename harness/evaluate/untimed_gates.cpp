// harness/evaluate/untimed_gates.cpp - evaluates apo:requires, builds both arms for each workload, checks the results.
#include "harness/evaluate/untimed_gates.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/secret.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Pairs = std::vector<TimedWorkload>;

// Checks that the candidate supports every workload.
bool pass_metadata(const Evaluation& evaluation) {
  const StageRange range("gate metadata");
  const auto start = std::chrono::steady_clock::now();
  GateResult gate{.gate = "metadata", .evidence = "apo:requires holds on every workload"};
  for (const Workload* workload : evaluation.plan.workloads) {
    const Configuration& candidate = evaluation.experiment.candidate;
    if (const std::string why = evaluation.runtime.unsupported(candidate, workload->axes); !why.empty()) {
      gate.outcome = Outcome::refused;
      gate.evidence = workload->name + ": " + why;
      break;
    }
  }
  gate.seconds = seconds_since(start);
  return add_gate(evaluation, std::move(gate));
}

Build built_incumbent(const Evaluation& evaluation, const Workload& workload) {
  const Configuration& incumbent = evaluation.experiment.incumbent;
  if (incumbent.variant.empty()) {
    return {};
  }
  Build build = evaluation.runtime.build(incumbent, workload.axes, false);
  if (build.outcome != Outcome::valid) {
    throw EnvironmentError("the incumbent " + incumbent.label() + " does not build here", build.evidence);
  }
  return build;
}

// The experiment gets the builds for the workload that failed, else for the first.
GateResult build_pairs(const Evaluation& evaluation, Pairs& pairs) {
  Experiment& experiment = evaluation.experiment;
  const EvaluatePlan& plan = evaluation.plan;
  GateResult gate{.gate = "build"};
  for (const Workload* workload : plan.workloads) {
    evaluation.observer.progress({.what = "build " + experiment.candidate.label()});
    TimedWorkload pair{.name = workload->name, .axes = workload->axes};
    pair.incumbent = {experiment.incumbent, built_incumbent(evaluation, *workload)};
    pair.candidate = {experiment.candidate, evaluation.runtime.build(experiment.candidate, workload->axes, false)};
    if (const auto floor = plan.floor_ns.find(pair.name); floor != plan.floor_ns.end()) {
      pair.floor_ns = floor->second;
    }
    const Build& build = pair.candidate.build;
    gate.seconds += build.seconds;
    if (pairs.empty() || build.outcome != Outcome::valid) {
      experiment.incumbent_build = pair.incumbent.build;
      experiment.candidate_build = build;
    }
    if (build.outcome != Outcome::valid) {
      gate.outcome = build.outcome;
      gate.evidence = (experiment.incumbent.variant.empty() ? "" : workload->name + ": ") + build.evidence;
      return gate;
    }
    pairs.push_back(std::move(pair));
  }
  const Build& first = experiment.candidate_build;
  gate.evidence = first.toolchain.version + (first.from_cache ? ", from the cache" : "");
  return gate;
}

bool pass_build(const Evaluation& evaluation, Pairs& pairs) {
  const StageRange range("implement");
  GateResult gate = build_pairs(evaluation, pairs);
  if (evaluation.hooks.on_build) {
    evaluation.hooks.on_build(evaluation.experiment.candidate_build, true);
    evaluation.hooks.on_build(evaluation.experiment.incumbent_build, false);
  }
  return add_gate(evaluation, std::move(gate));
}

// Whether both arms have the same machine code for every workload.
bool have_same_code(const Pairs& pairs) {
  return std::ranges::all_of(pairs, [](const TimedWorkload& pair) {
    return pair.incumbent.build.code_hash == pair.candidate.build.code_hash;
  });
}

// A sentence where both arms have the same kernels, and differ in how they launch them.
std::string same_kernels(const Evaluation& evaluation) {
  const auto code_of = [&](const Build& build) {
    const std::filesystem::path cubin = std::filesystem::path(build.object_path).parent_path() / kCubin;
    return is_absent(cubin) ? "" : evaluation.runtime.code_of(read_file(cubin));
  };
  const std::string code = evaluation.runtime.code_of ? code_of(evaluation.experiment.candidate_build) : "";
  return code.empty() || code != code_of(evaluation.experiment.incumbent_build)
             ? ""
             : "; the machine code of its kernels is the incumbent's: what differs is how they are launched";
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
    gate.evidence = resources_text(evaluation.experiment.candidate_build) + same_kernels(evaluation);
  }
  gate.seconds = seconds_since(start);
  return add_gate(evaluation, std::move(gate));
}

// Under the reference, and then under the sanitizers, which start beside it.
std::vector<GateResult> check_on_device(const Evaluation& evaluation, const std::vector<CheckCase>& cases,
                                        std::uint64_t seed) {
  const Runtime& runtime = evaluation.runtime;
  const Configuration& candidate = evaluation.experiment.candidate;
  std::optional<SanitizerCheck> sanitizers;
  if (evaluation.plan.sanitize) {
    sanitizers.emplace(runtime, candidate, cases, seed);
  }
  std::vector<GateResult> gates;
  {
    const StageRange range("gate correctness");
    const auto report = [&](int done, int all, const std::string& what) {
      evaluation.observer.progress(
          {.what = "verify " + candidate.label() + " on " + what, .done = done, .expected = all});
    };
    gates.push_back(correctness_gate(runtime, candidate, cases, seed, report));
  }
  if (sanitizers && gates.back().outcome == Outcome::valid) {
    const StageRange range("gate sanitizers");
    evaluation.observer.progress({.what = "sanitizers " + candidate.label()});
    gates.push_back(sanitizers->run());
  }
  return gates;
}

// The CPU's findings precede the GPU's: they have the line of a race or a stray access.
bool pass_correctness(const Evaluation& evaluation, const KnownMistakes& known, BackgroundGates& on_cpu) {
  const Experiment& experiment = evaluation.experiment;
  const EvaluatePlan& plan = evaluation.plan;
  if (plan.trusted) {
    return true;
  }
  // The reported inputs of a wrong candidate must not reveal the inputs of the next one.
  const std::uint64_t seed = one_way_seed(plan.seed, "correctness", static_cast<std::uint64_t>(experiment.id));
  std::vector<CheckCase> cases = known.cases;
  std::ranges::move(correctness_plan(evaluation.runtime, experiment.candidate, names_of(plan.workloads), seed,
                                     shared_seed(evaluation)),
                    std::back_inserter(cases));
  std::vector<GateResult> on_device = check_on_device(evaluation, cases, seed);
  std::vector<GateResult> gates = on_cpu.take();
  std::ranges::move(on_device, std::back_inserter(gates));
  return std::ranges::all_of(gates, [&](GateResult& gate) { return add_gate(evaluation, std::move(gate)); });
}

// What was proven wrong stays wrong where its results, which differ from call to call, are right this time.
bool pass_history(const Evaluation& evaluation, const KnownMistakes& known) {
  return known.proof.empty() || add_gate(evaluation, history_gate(known.proof));
}

}  // namespace

std::optional<Pairs> pass_untimed_gates(const Evaluation& evaluation) {
  BackgroundGates on_cpu(evaluation.plan.check_on_cpu);  // an early return cancels it
  Pairs pairs;
  if (!pass_metadata(evaluation) || !pass_build(evaluation, pairs) || !pass_resources(evaluation, pairs)) {
    return std::nullopt;
  }
  const auto& known_mistakes = evaluation.plan.known_mistakes;
  const KnownMistakes known = known_mistakes ? known_mistakes(evaluation.experiment) : KnownMistakes();
  const bool passed = pass_correctness(evaluation, known, on_cpu) && pass_history(evaluation, known);
  return passed ? std::optional(std::move(pairs)) : std::nullopt;
}

GateResult build_gate(const Build& build, const std::string& built) {
  return {.gate = "build",
          .outcome = build.outcome,
          .evidence = build.outcome == Outcome::valid ? built : build.evidence,
          .seconds = build.seconds};
}

GateResult history_gate(const std::string& before) {
  return {.gate = "history",
          .outcome = Outcome::incorrect,
          .evidence = before + "; right results now do not undo that: change the code to have it judged again"};
}

std::uint64_t shared_seed(const Evaluation& evaluation) {
  const Axes& axes = evaluation.plan.workloads.front()->axes;
  return derive_seed(evaluation.plan.seed, "shared",
                     inputs_group(*evaluation.runtime.family, axes, evaluation.experiment.id));
}

std::vector<std::string> names_of(const std::vector<const Workload*>& workloads) {
  std::vector<std::string> names;
  for (const Workload* workload : workloads) {
    names.push_back(workload->name);
  }
  return names;
}

}  // namespace apo
