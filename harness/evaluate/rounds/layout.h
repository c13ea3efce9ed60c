// harness/evaluate/rounds/layout.h - the draws of a round: places of code and buffers, and which calls are looked at.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/records/conditions.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// A timed call whose outputs are verified.
struct Verification {
  int block = 0;
  int sample = 0;
};

// The parent's checks in a round: the outputs that it verifies, and the blocks after which it makes calls on fresh
// inputs.
struct Inspections {
  std::array<Verification, 2> at_timed;  // one of each slot
  bool timed = true;
  std::vector<int> fresh_after;
};

// Draws the inspections of a round of so many blocks, with so many `unseen` inputs in the pool, from a seed that no
// worker gets. For large tensors on a GPU an inspection is `costly`, as long as all the timing: a round then has one
// kind of inspection, unpredictably. Otherwise the fresh calls are spread over the round, the last one after the last
// block.
Inspections draw_inspections(std::uint64_t seed, int blocks, int unseen, bool costly);

// The layout as the choice of the judge's preset needs it.
LayoutControl layout_control(Layout layout);

struct RoundOptions {
  Layout layout = Layout::random;
  // More than one only for a single workload whose processes were shown not to differ (resolution.h). Every round still
  // draws coins, loads and buffers of its own.
  int rounds_per_process = 1;
  // More than one to measure the effect of a layout: these rounds keep coin, code and buffers, and no verdict may use
  // them.
  int rounds_per_layout = 1;
};

// Identifies the owner of the rounds, for the coins: a difference in any field draws anew.
struct RoundCoins {
  std::uint64_t campaign_seed = 0;
  std::string comparison;
};
// Makes the random choices of a session in a round, for workload `which` of `workloads`.
SessionDraw draw_session(const RoundCoins& coins, RoundStage stage, int index, std::size_t which,
                         const std::vector<TimedWorkload>& workloads, const RoundOptions& options);

}  // namespace apo
