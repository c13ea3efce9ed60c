// harness/evaluate/correctness/largest_launches.h - the launches of a device variant at the largest sizes that its
// contract allows, from its lines alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/runtime/runtime.h"

namespace apo {

// Outcome::refused, with the line that its author has to write, where the configuration takes sizes for which a launch
// has a grid that no GPU takes. Looked at: every axis, and every two of them, as large as the contract, apo:requires
// and 256 GiB of tensors allow.
std::optional<Failure> check_largest_launches(const Runtime& runtime, const Configuration& configuration);

// A grid that does not grow with an axis beyond some value of it, such as min(rows,4096).
struct ClippedGrid {
  std::string axis;
  std::int64_t value = 0;          // from here on it has the same blocks
  std::optional<Axes> shape = {};  // beyond that, with the other axes as small as they get; nullopt: beyond `elements`
};
// Returns those of the configuration, with a shape of up to `elements` in all tensors for each.
std::vector<ClippedGrid> clipped_grids(const Runtime& runtime, const Configuration& configuration,
                                       std::int64_t elements, std::uint64_t seed);

}  // namespace apo
