// data/batches.h - which bytes a step sees: a function of the seed and the step alone, so that two runs see the same.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/size.h"

namespace byte_lm {

constexpr std::int32_t kNotScored = -1;

struct Batch {
  std::vector<std::int32_t> tokens;   // [batch, length]
  std::vector<std::int32_t> targets;  // the byte after each token; kNotScored for a separator
  std::int64_t scored = 0;

  // The rows sorted by their token, those of byte b from starts[b].
  struct ByToken {
    std::vector<std::int32_t> order, starts;
  };
  ByToken by_token() const;
};

// Pieces of length + 1 bytes from random places. A piece that runs past the stream's end is filled with separators,
// which are never scored.
Batch training_batch(std::string_view stream, const StepShape& shape, std::uint64_t seed, std::int64_t step);

// Batch `index` of those in which every byte of the stream after the first is a target once.
Batch window_batch(std::string_view stream, const StepShape& shape, std::int64_t index);
std::int64_t window_batches(std::string_view stream, const StepShape& shape);

}  // namespace byte_lm
