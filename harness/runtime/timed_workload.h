// harness/runtime/timed_workload.h - a workload to time: both arms built for it, and inputs.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/runtime/input_store.h"
#include "harness/runtime/rearranged_inputs.h"
#include "harness/runtime/runtime.h"

namespace apo {

// How many sets of so many bytes may be drawn side by side on a machine of so much memory: one at least. The reference
// of a few units keeps few threads busy, so that one after the other takes twice as long.
std::size_t drawn_together(std::int64_t bytes, std::int64_t memory);

// Typical inputs from secret seeds: inputs of different regimes take the same path through a kernel. On a GPU all
// rounds of a comparison choose from them; on a host each round makes new ones of them, so that nothing that a process
// might keep from another is worth anything. Copies share what was drawn; runtime and workload have to outlive them.
class InputPool {
 public:
  InputPool() = default;
  // All rounds have this one: for what decides nothing.
  explicit InputPool(CheckedPointer only) : only_(std::move(only)) {}
  InputPool(const Runtime& runtime, const Workload& workload, std::uint64_t seed)
      : runtime_(&runtime), workload_(&workload), seed_(seed), drawn_(std::make_shared<Drawn>()) {}

  // Makes it hold at least so many, drawn side by side as far as memory allows.
  void draw(std::size_t count, bool with_expected = false) const;
  std::size_t size() const { return drawn_ == nullptr ? 0 : drawn_->sets.size(); }
  // Returns so many inputs that nobody has seen, nor will see again: the seed is of one round.
  std::vector<CheckedPointer> of_round(std::size_t count, std::uint64_t seed) const;
  // How large errors on typical inputs are: of one set, for all of them.
  const TypicalErrors& typical() const;
  const CheckedPointer& operator[](std::size_t index) const { return drawn_->sets.at(index); }

 private:
  struct Drawn {
    std::vector<CheckedPointer> sets;
    std::optional<UnitPlaces> places;  // where units move
    std::optional<bool> move;          // whether derived inputs do so with them
    CheckedPointer typical;            // inputs of the first set
  };
  bool may_rearrange() const;
  DrawnSets snapshot() const;

  const Runtime* runtime_ = nullptr;
  const Workload* workload_ = nullptr;
  std::uint64_t seed_ = 0;
  std::shared_ptr<Drawn> drawn_;
  CheckedPointer only_;
};

inline constexpr int kSetsInRound = 2;
inline constexpr std::size_t kFewestSets = 4;  // of a pool

// On a GPU with all inputs that its rounds choose from, expected outputs too; on a host empty: a round draws what it
// needs.
InputPool make_pool(const Runtime& runtime, const Workload& workload, std::uint64_t seed);

// Inputs of another regime, for calls that are verified and not timed; null where a family has only one. From the seed
// that large workloads share, they are those that the correctness gate has drawn.
CheckedPointer make_other_regime(const Runtime& runtime, const Workload& workload, std::uint64_t shared_seed);

// By when a call on these axes has to end: on a host, of large tensors, later by what plain code takes on one slow
// core.
std::chrono::milliseconds deadline_of(const Runtime& runtime, const Axes& axes);

struct TimedArm {
  Configuration configuration;
  Build build;
};

// One workload of a comparison, with both arms built for its axes.
struct TimedWorkload {
  std::string name;
  Axes axes;
  TimedArm incumbent;
  TimedArm candidate;
  InputPool pool;
  CheckedPointer other_regime;  // of host code, which may know that it is timed; null: none is called for
  double floor_ns = 0;          // no call can be faster: physics of this machine

  // True when code of an arm runs in the worker's process. Code of a device variant does not.
  bool has_host_code() const {
    return !candidate.build.plan.has_device_code_only() || !incumbent.build.plan.has_device_code_only();
  }
};

inline bool any_host_code(const std::vector<TimedWorkload>& timed) {
  return std::ranges::any_of(timed, &TimedWorkload::has_host_code);
}

// The random choices of one round of one workload.
struct SessionDraw {
  bool candidate_in_slot0 = false;
  std::uint64_t layout_seed = 0;              // of environment, buffers and the order of loading
  std::array<std::uint64_t, 2> code_seeds{};  // of the incumbent's and the candidate's code; 0: as the compiler made it
  std::array<std::size_t, 2> sets{};          // of the pool
  bool operator==(const SessionDraw&) const = default;
};

inline const TimedArm& arm_in(const TimedWorkload& workload, const SessionDraw& draw, int slot) {
  return (slot == 0) == draw.candidate_in_slot0 ? workload.candidate : workload.incumbent;
}

// Names the arm in a slot and its code: whose call it was that left a Witness.
inline std::string name_of_arm(const TimedWorkload& workload, const SessionDraw& draw, int slot) {
  const TimedArm& arm = arm_in(workload, draw, slot);
  const std::string role = &arm == &workload.candidate ? "candidate " : "incumbent ";
  return role + arm.configuration.label() + " " + arm.build.code_hash;
}

}  // namespace apo
