// harness/evaluate/rounds/inspections.cpp - draws the calls that the parent inspects.
#include "harness/evaluate/rounds/inspections.h"

#include <algorithm>

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

}  // namespace apo
