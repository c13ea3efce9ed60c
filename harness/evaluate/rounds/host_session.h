// harness/evaluate/rounds/host_session.h - both arms of a workload on a host, each in a process of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/core/system/machine.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/windows/arm_process.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// The windows of a workload, the same for both arms and all rounds.
struct WindowPlan {
  int calls = 1;  // in a window, each on inputs of its own
  // Else all of them and one call: with several, another CPU could work ahead on the next call's inputs.
  bool one_cpu = true;
  int blocks = 2;        // in a round
  bool warms_up = true;  // in a block before them; where calls are long, in one window of each arm
  double call_ns = 0;    // of the incumbent's least window; in a scan, of the candidate's
  // Returns the number of inputs with which no process sees one twice.
  std::size_t inputs() const { return static_cast<std::size_t>(calls * (2 * blocks + (warms_up ? 2 : 1))); }
};

// How many calls fill a window of so many seconds, from the duration of one and the bytes of its tensors.
int calls_in_window(double window_s, double call_s, std::int64_t bytes, CachePolicy cache);

// How many blocks, each of two windows of either arm, a round has, from the seconds of a window of both arms together
// with what comes before each, and the bytes of its tensors.
int blocks_in_round(const JudgePreset& preset, double windows_s, std::int64_t window_bytes);

// A shorter call shows no use of several CPUs beside waking them.
inline constexpr double kLongCallNs = 1e5;

// Whether the code of these windows, all of one arm in one process, ran on several CPUs at once in any of them but the
// first.
bool uses_several_cpus(std::span<const WindowTimes> windows);

// The plan from windows of one call of either arm, two of each at least: all CPUs where either uses several, and where
// the incumbent's calls are long and `may_be_long`, the fewest blocks without one that warms up. Not by the candidate's
// calls: it must not choose how many of them are seen.
WindowPlan plan_of_single_calls(const JudgePreset& preset, const WindowPlan& on_one_cpu,
                                std::span<const WindowTimes> incumbent, std::span<const WindowTimes> candidate,
                                bool may_be_long);

inline constexpr WindowTimes kLongest{.ns = std::numeric_limits<std::int64_t>::max(),
                                      .cpu_ns = std::numeric_limits<std::int64_t>::max()};

// Of so many rounds one looks at an input, drawn by lot: the reference may take as long as a round.
inline constexpr std::uint64_t kRoundsOfALook = 4;

// Slots are numbered as in SessionDraw; all Failures name one. The windows of a round have inputs that no process has
// seen before, each once in either slot.
class HostSession {
 public:
  // `runtime` and `workload` have to outlive it.
  HostSession(const Runtime& runtime, const TimedWorkload& workload, const SessionDraw& draw, CachePolicy cache,
              const WindowPlan& plan, std::uint64_t rounds_of_a_look = kRoundsOfALook);

  // Loads both arms, measures empty windows and lays out the tensors. `inputs_seed` is as in begin_round().
  Result<Done> prepare(std::uint64_t inputs_seed);
  // Makes the inputs of a round: from a seed of the round, which no process ever gets.
  void begin_round(std::uint64_t inputs_seed);
  // Another layout in the same processes: code, tensors, and which arm has which slot.
  Result<Done> lay_out_again(const SessionDraw& draw);
  // Chooses the plan for other sessions, of a CPU each; of long calls after two windows of each arm.
  Result<WindowPlan> choose_plan(const JudgePreset& preset);
  // Returns plan_of_single_calls() of windows of this session, which has all CPUs.
  Result<WindowPlan> choose_long_plan(const JudgePreset& preset, const WindowPlan& on_one_cpu, bool may_be_long);
  // One window of each slot that is not timed: a process's first call may take longer.
  Result<Done> warm_up();

  // Four windows, 0110 or 1001: the first two on the same inputs, and the last two. All outputs of the pair with the
  // number `held_pair` are held against each other; -1: of none. An input that the round looks at is compared with the
  // reference in every window.
  Result<Block> block(BlockKind kind, std::uint64_t order_seed, int which, int index, int held_pair);
  enum class Look : std::uint8_t {
    nothing,
    drawn,     // at what the round looks at, by the reference
    other_arm  // also at all outputs: beside those of the other slot, whose last window had the same inputs
  };
  // One window of a slot; its time is that of the calls, without the hand-over.
  Result<WindowTimes> window(int slot, Look look);
  // The last windows of a session: one of each slot with inputs of another regime in it, where the workload has one,
  // and a look at all that the processes may have touched.
  Result<Done> finish();

  bool candidate_in_slot0() const { return draw_.candidate_in_slot0; }
  int pid(int slot) { return arm(slot).worker().pid(); }
  double start_seconds();
  double start_wait_s() const { return start_wait_s_; }
  // How long calls took since the last call that are not timed, and looks at outputs.
  double take_untimed_s() { return std::exchange(untimed_s_, 0); }
  double empty_window_ns() const { return static_cast<double>(empty_.ns); }

 private:
  struct Slot {
    std::unique_ptr<ArmProcess> process;
    std::size_t used = 0;  // inputs
  };
  std::string label(int slot) const { return arm_in(timed_, draw_, slot).configuration.label(); }
  ArmProcess& arm(int slot) { return *slots_.at(static_cast<std::size_t>(slot)).process; }
  void link();
  Result<Done> load_and_attach();
  Result<WindowTimes> measure_empty_windows(int slot);
  std::unique_ptr<OnCpu> beside_the_processes() const;
  std::vector<std::size_t> next_inputs(Slot& slot);  // of the round
  std::vector<CheckedPointer> drawn(const std::vector<std::size_t>& inputs) const;
  std::optional<Failure> verify(int slot, const std::vector<std::size_t>& inputs, Look look);
  std::optional<Failure> verify_call(int slot, int call, const CheckedInputs& inputs, bool by_reference);
  std::string whose(int slot) const { return name_of_arm(timed_, draw_, slot); }

  const Runtime& runtime_;
  const TimedWorkload& timed_;
  SessionDraw draw_;
  CachePolicy cache_;
  WindowPlan plan_;
  int cpu_ = 0;  // of both processes, where they have one
  std::array<Slot, 2> slots_;
  std::uint64_t inputs_seed_ = 0;
  std::vector<CheckedPointer> inputs_;  // of the round
  std::uint64_t rounds_of_a_look_;
  std::optional<std::size_t> looked_at_;  // one of these, in some rounds
  double start_wait_s_ = 0;
  double untimed_s_ = 0;
  WindowTimes empty_ = kLongest;  // the least that a window of either process takes without a call
};

}  // namespace apo
