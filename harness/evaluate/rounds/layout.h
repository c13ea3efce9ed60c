// harness/evaluate/rounds/layout.h - the place of code and buffers in a round: drawn anew each time, or fixed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/records/conditions.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// The layout as the choice of the judge's preset needs it.
LayoutControl layout_control(Layout layout);

struct RoundOptions {
  Layout layout = Layout::random;
  // For `fixed`: the code layouts that incumbent and candidate keep; 0 is the compiler's.
  std::array<std::uint64_t, 2> fixed_seeds{};
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
