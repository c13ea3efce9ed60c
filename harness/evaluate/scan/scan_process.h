// harness/evaluate/scan/scan_process.h - measures builds coarsely beside the incumbent, one after the other: right or
// wrong on one case, and the time of a few calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// How long the calls of one candidate may be timed.
struct ScanEffort {
  double seconds = 0;
  int most_pairs = 0;  // of calls: one of either arm
};

// Code of a device variant shares one process and its context, as long as nothing goes wrong there. Host code has a
// process for each candidate: starting one takes milliseconds, and nothing is left of the one before.
class ScanProcess {
 public:
  // `runtime` and `workload` have to outlive it. Throws EnvironmentError where the incumbent does not run.
  ScanProcess(const Runtime& runtime, const Workload& workload, CachePolicy cache, TimedArm incumbent,
              std::uint64_t seed);

  // Everything that the candidate does wrong is in the outcome, and costs its process alone.
  ScanTimes measure(const TimedArm& candidate, const ScanEffort& effort);

 private:
  Result<Done> prepare(const TimedArm& candidate);
  Result<double> checked_call(const TimedArm& candidate);  // nanoseconds
  Result<ScanTimes> timed_calls(double call_ns, const ScanEffort& effort);
  Result<ScanTimes> measured(const TimedArm& candidate, const ScanEffort& effort);

  const Runtime& runtime_;
  const Workload& workload_;
  CachePolicy cache_;
  TimedArm incumbent_;
  std::uint64_t seed_;
  std::uint64_t processes_ = 0;
  CheckedPointer inputs_;
  double incumbent_ns_ = 0;                           // of its checked call; 0 before
  std::optional<std::vector<std::int64_t>> scratch_;  // of the candidate that the tensors are laid out for
  std::unique_ptr<SharedTensors> tensors_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace apo
