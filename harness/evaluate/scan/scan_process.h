// harness/evaluate/scan/scan_process.h - measures builds coarsely beside the incumbent, one after the other: right or
// wrong on one case, and the time of a few calls.
#pragma once

#include <cstdint>
#include <memory>
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

// On a GPU both arms are in one process, which device code shares with the candidates before it, as long as nothing
// goes wrong there. On a host each arm has a process of its own, as in the judge: a candidate's ends behind it, and
// starting one takes milliseconds.
class ScanProcess {
 public:
  // `runtime` and `workload` have to outlive it. Throws EnvironmentError where the incumbent does not run.
  ScanProcess(const Runtime& runtime, const Workload& workload, CachePolicy cache, TimedArm incumbent,
              std::uint64_t seed);

  // Everything that the candidate does wrong is in the outcome, and costs its process alone.
  ScanTimes measure(const TimedArm& candidate, const ScanEffort& effort);

 private:
  enum class Arm : std::uint8_t { candidate, incumbent };
  struct Process {
    std::unique_ptr<Worker> worker;
    std::unique_ptr<SharedTensors> tensors;
  };
  bool share_a_process() const { return runtime_.worker.target == Target::cuda; }
  Process& process_of(Arm arm) { return share_a_process() || arm == Arm::candidate ? candidate_ : own_; }
  int slot_of(Arm arm) const { return share_a_process() && arm == Arm::incumbent ? 1 : 0; }
  Result<Done> prepare(Arm arm, const TimedArm& code);
  Result<double> checked_call(Arm arm, const TimedArm& code);  // nanoseconds
  Result<ScanTimes> timed_calls(double call_ns, const ScanEffort& effort);
  Result<std::vector<RawSample>> samples(const std::vector<Arm>& order, int calls, double ns_of_all);
  Result<ScanTimes> measured(const TimedArm& candidate, const ScanEffort& effort);

  const Runtime& runtime_;
  const Workload& workload_;
  CachePolicy cache_;
  TimedArm incumbent_;
  std::uint64_t seed_;
  std::uint64_t processes_ = 0;
  CheckedPointer inputs_;
  double incumbent_ns_ = 0;  // of its checked call; 0 before
  Process candidate_;
  Process own_;  // of the incumbent, where it has one
};

}  // namespace apo
