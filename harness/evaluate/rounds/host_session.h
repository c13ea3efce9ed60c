// harness/evaluate/rounds/host_session.h - both arms of a workload on a host, each in a process of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/arm_process.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// The windows of a workload, the same for both arms and all rounds.
struct WindowPlan {
  int calls = 1;         // in a window, each on inputs of its own
  bool one_cpu = false;  // several calls share a CPU: an arm with more could work ahead on the next call's inputs
  int blocks = 2;        // in a round, behind one that warms up
  // That a process needs to see none twice.
  std::size_t inputs() const { return static_cast<std::size_t>(calls * (2 + 2 * blocks)); }
};

// How many calls fill a window of so many seconds, from the duration of one and the bytes of its tensors.
int calls_in_window(double window_s, double call_ns, std::int64_t bytes, CachePolicy cache);

// The memory of both arms, kept from round to round.
using ArmMemories = std::array<std::shared_ptr<MemoryFile>, 2>;

// Slots are numbered as in SessionDraw; all Failures name one. No process sees inputs twice in the windows of one
// round.
class HostSession {
 public:
  // `runtime` and `workload` have to outlive it.
  HostSession(const Runtime& runtime, const TimedWorkload& workload, const SessionDraw& draw, CachePolicy cache,
              const WindowPlan& plan, const ArmMemories& memories);

  // Loads both arms, measures empty windows and lays out the tensors.
  Result<Done> prepare();
  // Another layout in the same processes: code, tensors, and which arm has which slot.
  Result<Done> lay_out_again(const SessionDraw& draw);
  // Chooses the plan for other sessions.
  Result<WindowPlan> choose_plan(const JudgePreset& preset);

  // Four windows, 0110 or 1001. Outputs of the one with the number `verify_window` are compared; -1: of none.
  Result<Block> block(BlockKind kind, std::uint64_t order_seed, int which, int index, int verify_window,
                      std::uint64_t look_seed);
  // One window of a slot.
  Result<WindowTimes> window(int slot, bool verify, std::uint64_t look_seed);
  // The last windows of a session: one of each slot with inputs of another regime in it, where the workload has one,
  // and a look at all that the processes may have touched.
  Result<Done> finish();

  bool candidate_in_slot0() const { return draw_.candidate_in_slot0; }
  int pid(int slot) { return arm(slot).worker().pid(); }
  double start_seconds();
  double start_wait_s() const { return start_wait_s_; }
  double empty_window_ns() const { return empty_window_ns_; }

 private:
  struct Slot {
    std::unique_ptr<ArmProcess> process;
    std::size_t used = 0;  // inputs
  };
  ArmProcess& arm(int slot) { return *slots_.at(static_cast<std::size_t>(slot)).process; }
  void link();
  Result<Done> load_and_attach();
  Result<double> measure_empty_windows(int slot);
  std::vector<CheckedPointer> next_inputs(Slot& slot) const;
  std::optional<Failure> verify(int slot, const std::vector<CheckedPointer>& inputs, std::uint64_t look_seed);

  const Runtime& runtime_;
  const TimedWorkload& timed_;
  SessionDraw draw_;
  CachePolicy cache_;
  WindowPlan plan_;
  ArmMemories memories_;
  std::array<Slot, 2> slots_;
  std::size_t first_ = 0;  // of the pool
  double start_wait_s_ = 0;
  double empty_window_ns_ = 0;
};

}  // namespace apo
