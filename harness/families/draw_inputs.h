// harness/families/draw_inputs.h - draws the inputs of a family file from their declared distributions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/families/family_file.h"
#include "kernels/family.h"

namespace apo {

// The elements of one input; `extents` is its shape, and `largest` the value of Distribution::largest. The same for any
// number of threads. The regimes change what the distribution leaves open:
//   wide           normal, positive: each element times 2^u, u uniform in (-6, 6); else a quarter at each end
//   near_zero      times 2^-10; a mask is 1 in one of twenty elements
//   saturating     normal, positive: times 16; else half of the elements at each end
//   constant_rows  all elements along the last extent are the same
std::vector<double> draw_input(const Distribution& distribution, const std::vector<std::int64_t>& extents,
                               std::int64_t largest, std::uint64_t seed, std::string_view regime, int threads);

}  // namespace apo
