// harness/evaluate/scan/scan_process.h - measures builds coarsely beside the incumbent, one after the other: right or
// wrong on one case, and the time of a few calls.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/host_session.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"
#include "kernels/random.h"

namespace apo {

// How long one candidate may be timed.
struct ScanEffort {
  double seconds = 0;
  int most_blocks = 0;  // of a process; each is two samples of either arm, as in the judge
  int processes = 1;    // on a host: so many share the time
};

// Every call has the same inputs. On a GPU both arms are in one process, which device code shares with the candidates
// before it, and their tensors too, as long as nothing goes wrong there. On a host each candidate has windows of new
// processes, one an arm, as in a round of the judge: starting them takes milliseconds, and what else runs on the
// machine meets both arms.
class ScanProcess {
 public:
  // `workload` has to outlive it. Throws EnvironmentError where the incumbent does not run.
  ScanProcess(const Runtime& runtime, const Workload& workload, CachePolicy cache, TimedArm incumbent,
              std::uint64_t seed);

  // Everything that the candidate does wrong is in the outcome, and costs its process alone.
  ScanTimes measure(const TimedArm& candidate, const ScanEffort& effort);

 private:
  using Processes = std::vector<RoundWorkload>;  // one each, the candidate in slot 0
  bool on_gpu() const { return runtime_.worker.target == Target::cuda; }
  std::uint64_t next_seed() { return derive_seed(seed_, "process", processes_++); }

  void end_process();
  Result<Done> prepare_gpu(const TimedArm& candidate);
  Result<double> checked_call(const TimedArm& candidate);  // nanoseconds
  Result<Processes> blocks_on_gpu(const TimedArm& candidate, const ScanEffort& effort);

  TimedWorkload beside_the_incumbent(const TimedArm& candidate) const;
  Result<WindowPlan> plan_of(const TimedWorkload& timed);
  Result<RoundWorkload> blocks_of_pair(const TimedWorkload& timed, const WindowPlan& plan, const ScanEffort& effort);
  Result<Processes> blocks_on_host(const TimedArm& candidate, const ScanEffort& effort);

  Runtime runtime_;  // on a host with the deadline of a candidate
  const Workload& workload_;
  CachePolicy cache_;
  TimedArm incumbent_;
  std::uint64_t seed_;
  std::uint64_t processes_ = 0;
  CheckedPointer inputs_;
  Worker::Deadline deadline_;                // of a call; none for the incumbent's first
  double incumbent_ns_ = 0;                  // of a call
  bool several_cpus_ = false;                // on a host: the incumbent uses them
  std::map<std::string, WindowPlan> plans_;  // on a host: of candidates, by the key of the build
  std::unique_ptr<Worker> worker_;           // on a GPU
  std::unique_ptr<SharedTensors> tensors_;   // of its process
  std::vector<std::int64_t> scratch_;        // of the candidates that work on them
  std::set<std::string> right_;              // on a GPU: keys of builds whose call was compared
};

}  // namespace apo
