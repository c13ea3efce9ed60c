// harness/evaluate/rounds/session.h - one worker of a GPU with both arms loaded, for one workload of one round.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/core/system/files.h"
#include "harness/evaluate/judge/round.h"
#include "harness/runtime/timed_workload.h"
#include "harness/worker/parent/worker.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

// Runs blocks of samples and calls on fresh inputs, and keeps the measurements. `runtime` and `workload` have to
// outlive it.
class RoundSession {
 public:
  // Uses a process that has just been started, or (is_new = false) that of an earlier session.
  RoundSession(const Runtime& runtime, const TimedWorkload& workload, const SessionDraw& draw, CachePolicy cache,
               std::unique_ptr<SharedTensors> shared_tensors, std::unique_ptr<Worker> process, bool is_new);

  // Options of a worker for a session with this layout. Kernels run on one stream: a context with one hardware queue is
  // made in half the time (experiments/nvidia-h200/two-gpus.md).
  static WorkerOptions options(const Runtime& runtime, std::uint64_t layout_seed);

  // Waits for the worker, loads both slots, attaches the tensors.
  Result<Done> prepare();
  double start_wait_s() const { return start_wait_s_; }  // for the worker, in prepare()
  // Prepares the session for another round.
  void begin_round_again();

  RunRequest block_request(BlockKind kind, std::uint64_t order_seed, int which, int index, int repetitions) const;
  // Runs one block; verify_sample < 0 verifies nothing.
  Result<Block> block(BlockKind kind, std::uint64_t order_seed, int which, int index, int repetitions,
                      int verify_sample);
  // One call of each slot on inputs that nothing in the worker had seen before: they are written while it stands still,
  // right before, and copied to the GPU anew for each slot. A call on the other set warms up what any call warms up.
  // Nanoseconds of each slot go to fresh_ns().
  Result<Done> fresh_calls(std::size_t inputs, int set, int first_slot);

  // Calls the other arm where only one was looked at, untimed, so that all elements of both have been compared.
  Result<Done> calls_of_other_arm();

  // Takes samples of one slot in a row, on both sets in turn, verified as in a timed block.
  Result<std::vector<RawSample>> batch(int slot, int samples, int repetitions, int verify_sample);

  Worker& worker() { return *worker_; }
  std::unique_ptr<Worker> take_worker() { return std::move(worker_); }
  const TimedWorkload& workload() const { return timed_; }
  Target target() const { return target_; }
  bool is_new_process() const { return new_process_; }
  bool candidate_in_slot0() const { return draw_.candidate_in_slot0; }
  // Inputs of the pool that are new to the session.
  std::vector<std::size_t> unseen() const;
  const std::array<std::vector<double>, 2>& fresh_ns() const { return fresh_; }  // of each slot's calls

 private:
  const TimedArm& arm(int slot) const { return arm_in(timed_, draw_, slot); }
  std::string whose(int slot) const { return name_of_arm(timed_, draw_, slot); }
  // Links the code of both slots in their order of this round, at the same time.
  void lay_out_code(const Runtime& runtime);
  // Runs the timed request and keeps the samples.
  Result<std::vector<RawSample>> take(const RunRequest& request, const std::string& what = "timed call");
  void write_fresh(std::size_t inputs, int set);
  // Has the last sample of the request see the inputs that write_fresh() brought.
  void refresh(RunRequest& request, int set) const;
  // Returns the check of the outputs of the sample that the request names.
  Inspect inspection(const RunRequest& request, const std::string& what);
  // A time below the floor is a Failure.
  std::optional<Failure> check_floor(const RawSample& sample, int repetitions) const;

  const Runtime& runtime_;
  const Family& family_;
  const TimedWorkload& timed_;
  SessionDraw draw_;  // with the sets as they are now
  CachePolicy cache_;
  Target target_;
  int threads_;
  bool new_process_;
  double start_wait_s_ = 0;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<SharedTensors> shared_tensors_;
  TemporaryFolder linked_;
  std::array<Build, 2> builds_;  // of each slot, as they are loaded
  std::array<std::vector<double>, 2> fresh_;
  std::set<std::size_t> looked_at_;  // inputs of the pool
};

// Converts the failure of a slot to that of an arm: 0 is the incumbent and 1 the candidate; -1, unknown, stays.
Failure by_arm(Failure failure, bool candidate_in_slot0);

}  // namespace apo
