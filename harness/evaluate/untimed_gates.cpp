// harness/evaluate/untimed_gates.cpp - evaluates apo:requires, builds both arms for each workload, checks the results.
#include "harness/evaluate/untimed_gates.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"

namespace apo {

GateResult metadata_gate(const Runtime& runtime, const Configuration& candidate,
                         const std::vector<const Workload*>& workloads) {
  const auto start = std::chrono::steady_clock::now();
  GateResult gate{.gate = "metadata", .evidence = "apo:requires holds on every workload"};
  for (const Workload* workload : workloads) {
    if (const std::string why = runtime.unsupported(candidate, workload->axes); !why.empty()) {
      gate.outcome = Outcome::refused;
      gate.evidence = workload->name + ": " + why;
      break;
    }
  }
  gate.seconds = seconds_since(start);
  return gate;
}

GateResult build_gate(const Build& build, const std::string& built) {
  return {.gate = "build",
          .outcome = build.outcome,
          .evidence = build.outcome == Outcome::valid ? built : build.evidence,
          .seconds = build.seconds};
}

BuildGate build_gate(const Runtime& runtime, const Configuration& incumbent, const Configuration& candidate,
                     const std::vector<const Workload*>& workloads, const std::string& incumbent_name,
                     Observer& observer) {
  BuildGate built{.gate = {.gate = "build"}, .pairs = {}, .incumbent = {}, .candidate = {}};
  for (const Workload* workload : workloads) {
    observer.progress({.what = "build " + candidate.label()});
    TimedWorkload pair{.name = workload->name, .axes = workload->axes};
    pair.incumbent = {incumbent, runtime.build(incumbent, workload->axes, false)};
    if (pair.incumbent.build.outcome != Outcome::valid) {
      throw EnvironmentError(incumbent_name + " " + incumbent.label() + " does not build here",
                             pair.incumbent.build.evidence);
    }
    pair.candidate = {candidate, runtime.build(candidate, workload->axes, false)};
    built.gate.seconds += pair.candidate.build.seconds;
    const bool failed = pair.candidate.build.outcome != Outcome::valid;
    if (built.pairs.empty() || failed) {
      built.incumbent = pair.incumbent.build;
      built.candidate = pair.candidate.build;
    }
    if (failed) {
      built.gate.outcome = pair.candidate.build.outcome;
      built.gate.evidence = workload->name + ": " + pair.candidate.build.evidence;
      return built;
    }
    built.pairs.push_back(std::move(pair));
  }
  built.gate.evidence = built.candidate.toolchain.version + (built.candidate.from_cache ? ", from the cache" : "");
  return built;
}

bool have_same_code(const std::vector<TimedWorkload>& pairs) {
  return std::ranges::all_of(pairs, [](const TimedWorkload& pair) {
    return pair.incumbent.build.code_hash == pair.candidate.build.code_hash;
  });
}

bool run_correctness_gates(const Runtime& runtime, const Configuration& candidate, const std::vector<CheckCase>& cases,
                           std::uint64_t seed, bool sanitize, Observer& observer, const AddGate& add) {
  std::optional<SanitizerCheck> sanitizers;
  if (sanitize) {
    sanitizers.emplace(runtime, candidate, cases, seed);
  }
  {
    const StageRange range("gate correctness");
    const auto report = [&](int done, int all, const std::string& what) {
      observer.progress({.what = "verify " + candidate.label() + " on " + what, .done = done, .expected = all});
    };
    if (!add(correctness_gate(runtime, candidate, cases, seed, report))) {
      return false;
    }
  }
  if (!sanitizers) {
    return true;
  }
  const StageRange range("gate sanitizers");
  observer.progress({.what = "sanitizers " + candidate.label()});
  return add(sanitizers->run());
}

std::vector<std::string> names_of(const std::vector<const Workload*>& workloads) {
  std::vector<std::string> names;
  for (const Workload* workload : workloads) {
    names.push_back(workload->name);
  }
  return names;
}

}  // namespace apo
