// harness/evaluate/untimed_gates.h - the gates before any timing: metadata, build, correctness, sanitizers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/correctness/check_case.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// Checks that the candidate supports every workload.
GateResult metadata_gate(const Runtime& runtime, const Configuration& candidate,
                         const std::vector<const Workload*>& workloads);

// The gate of one build; `built` is its evidence when the build is valid.
GateResult build_gate(const Build& build, const std::string& built);

struct BuildGate {
  GateResult gate;
  std::vector<TimedWorkload> pairs;  // one a workload, without inputs; those before the one that failed
  Build incumbent;                   // for the workload that failed, else for the first
  Build candidate;
};
// Builds both arms for every workload. Throws EnvironmentError when the incumbent does not build; the message calls it
// `incumbent_name`.
BuildGate build_gate(const Runtime& runtime, const Configuration& incumbent, const Configuration& candidate,
                     const std::vector<const Workload*>& workloads, const std::string& incumbent_name,
                     Observer& observer);

// Returns whether both arms have the same machine code for every workload.
bool have_same_code(const std::vector<TimedWorkload>& pairs);

// Checks the results on `cases`, and then under the sanitizers when `sanitize` is set, which start beside it. `add`
// gets each gate when it is finished and says whether to go on. Returns the last answer of `add`.
using AddGate = std::function<bool(GateResult)>;
bool run_correctness_gates(const Runtime& runtime, const Configuration& candidate, const std::vector<CheckCase>& cases,
                           std::uint64_t seed, bool sanitize, Observer& observer, const AddGate& add);

std::vector<std::string> names_of(const std::vector<const Workload*>& workloads);

}  // namespace apo
