// harness/evaluate/rounds/layout.cpp - draws the coins of a session, each from a seed of its own.
#include "harness/evaluate/rounds/layout.h"

#include <algorithm>

#include "harness/evaluate/judge/round.h"
#include "kernels/random.h"

namespace apo {
namespace {

std::array<Verification, 2> draw_verifications(std::uint64_t seed, int blocks) {
  Random random(derive_seed(seed, "verify"));
  const auto count = static_cast<std::uint64_t>(blocks);
  const std::uint64_t first = random.below(count);
  const std::uint64_t second = count > 1 ? (first + 1 + random.below(count - 1)) % count : first;
  // The outer two samples of a block are of one slot, the inner two of the other.
  return {{{.block = static_cast<int>(first), .sample = random.coin() ? 0 : 3},
           {.block = static_cast<int>(second), .sample = random.coin() ? 1 : 2}}};
}

}  // namespace

Inspections draw_inspections(std::uint64_t seed, int blocks, int unseen, bool costly) {
  Inspections inspections{.at_timed = draw_verifications(seed, blocks)};
  if (unseen == 0) {
    return inspections;
  }
  Random random(derive_seed(seed, "fresh"));
  if (costly) {
    inspections.timed = random.coin();
    if (!inspections.timed) {
      inspections.fresh_after = {static_cast<int>(random.below(static_cast<std::uint64_t>(blocks)))};
    }
    return inspections;
  }
  const int stride = std::max(1, blocks / unseen);
  const int turn = static_cast<int>(random.below(static_cast<std::uint64_t>(stride)));
  for (int i = 0; i + 1 < unseen && i * stride + turn + 1 < blocks; ++i) {
    inspections.fresh_after.push_back(i * stride + turn);
  }
  inspections.fresh_after.push_back(blocks - 1);
  return inspections;
}

LayoutControl layout_control(Layout layout) {
  return layout == Layout::random ? LayoutControl::redrawn : LayoutControl::aligned;
}

SessionDraw draw_session(const RoundCoins& coins, RoundStage stage, int index, std::size_t which,
                         const std::vector<TimedWorkload>& workloads, const RoundOptions& options) {
  const std::uint64_t seed = round_seed(coins.campaign_seed, coins.comparison, stage, index);
  const RoundDraw round = draw_round(seed, static_cast<int>(workloads.size()));
  Random random(derive_seed(seed, "pool", which));
  const std::size_t pool = workloads[which].pool.size();
  const std::size_t first = pool == 0 ? 0 : random.below(pool);  // windows choose by themselves
  const std::size_t second = pool > 1 ? (first + 1 + random.below(pool - 1)) % pool : first;
  SessionDraw draw{.candidate_in_slot0 = round.candidate_in_slot0, .sets = {first, second}};
  if (options.layout == Layout::random) {
    draw.layout_seed = derive_seed(round.order_seed, "workload", which);
    // From the round's own seed, which no worker ever gets.
    draw.code_seeds = {derive_seed(seed, "code of the incumbent", which) | 1,
                       derive_seed(seed, "code of the candidate", which) | 1};
  } else {
    draw.layout_seed = derive_seed(coins.campaign_seed, coins.comparison, which);
  }
  return draw;
}

}  // namespace apo
