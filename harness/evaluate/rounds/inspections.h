// harness/evaluate/rounds/inspections.h - chooses the inspected calls of a round, unpredictably for a worker.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

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

}  // namespace apo
