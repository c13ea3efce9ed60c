// harness/evaluate/correctness/check_case.h - checks one workload in several input regimes in a worker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/gate_steps.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Every regime is a call in one worker, so that an output left over from the call before is seen.
struct CheckCase {
  std::string workload;
  Axes axes;
  std::vector<std::string> regimes;
  std::uint64_t seed = 0;  // of its inputs; 0: from the seed of the check
};

struct CheckResult {
  Outcome outcome = Outcome::valid;
  std::string evidence;
  std::int64_t elements = 0;  // compared
  int calls = 0;
  std::string confinement;  // what held the candidate
  // Of a device variant in a worker that watches modules: whether the driver was seen to load what was built, and else
  // why not.
  bool code_compared = false;
  std::string code_not_compared;
  double seconds = 0;
};

// Runs one case with fresh inputs from the seed, in a process of its own.
CheckResult check_case(const Runtime& runtime, const Configuration& configuration, const CheckCase& one,
                       std::uint64_t seed, bool sanitize = false);

// The same with a build that is there already, in a worker that `options` describe.
CheckResult check_build(const Runtime& runtime, const Configuration& configuration, const Build& build,
                        const CheckCase& one, std::uint64_t seed, const WorkerOptions& options);

// The parts of these.
// The inputs of every regime of a case, with what a correct call makes of them.
std::vector<CheckedPointer> case_inputs(const Runtime& runtime, const CheckCase& one, std::uint64_t seed);
// How the process of a case is started: its layout is drawn from the seed.
WorkerOptions case_worker(WorkerOptions options, std::uint64_t seed);
// Loads the build into a worker that has started, whatever it served before, and makes the calls.
CheckResult check_in(Worker& worker, const Runtime& runtime, const Configuration& configuration, const Build& build,
                     const CheckCase& one, const std::vector<CheckedPointer>& inputs, std::uint64_t seed,
                     GateSteps& steps);

}  // namespace apo
