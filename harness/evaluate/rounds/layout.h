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

// What the choice of the judge's preset has to know of it.
LayoutControl layout_control(Layout layout);

struct RoundOptions {
  Layout layout = Layout::random;
  // `fixed`: what code layouts the incumbent and the candidate keep; 0 is the compiler's.
  std::array<std::uint64_t, 2> fixed_seeds{};
  // More than one only for a single workload, where processes were shown not to differ (resolution.h). Every round
  // still has coins, loads and buffers of its own.
  int rounds_per_process = 1;
  // More than one to see what a layout is worth: these rounds keep coin, code and buffers, and no verdict may use them.
  int rounds_per_layout = 1;
};

// Whose rounds these are, for the coins: what differs in one of them draws anew.
struct RoundCoins {
  std::uint64_t campaign_seed = 0;
  std::string comparison;
};
// What chance decides about the session of workload `which`, of so many, in a round.
SessionDraw draw_session(const RoundCoins& coins, RoundStage stage, int index, std::size_t which,
                         const std::vector<TimedWorkload>& workloads, const RoundOptions& options);

}  // namespace apo
