// harness/families/draw_inputs.h - draws the inputs of a family file from their declared distributions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/families/family_record.h"
#include "kernels/family.h"

namespace apo {

// Returns the input regimes that the harness can draw, "typical" first.
const std::vector<std::string>& known_regimes();

// Returns whether inputs of this regime differ from typical ones. None does where a function draws them.
bool changes(std::string_view regime, const Distribution& distribution, DType dtype);

// The elements of one input as its dtype stores them; `extents` is its shape, and `largest` the value of
// Distribution::largest. The same for any number of threads. The regimes change what the distribution leaves open:
//   wide           normal, positive: each element times 2^u, u uniform in (-6, 6); else a quarter at each end
//   near_zero      times 2^-10; a mask is 1 in one of twenty elements
//   saturating     normal, positive: times 16; else half of the elements at each end
//   constant_rows  all elements along the last extent are the same
//   zero_rows      half of the rows along the last extent are zero
//   extreme        normal: +-(45 to 200), where exp, tanh and their sums of squares leave their usual range; else each
//                  element is at an end
//   equal          all elements are the same
//   alternating    normal: signs alternate along the last extent; else its ends do
//   denormal       normal: below the normal numbers of the dtype
//   offset         normal, positive: 100 deviations above 0, with the differences of typical inputs
//   negative_offset  normal: the same below 0
//   close          the differences to the row's first element times 2^-6
//   sorted         each row in order, up and down in turn
//   repeated       a row has three different elements
//   largest        normal, positive of f16 and 8-bit floats: the upper half of the format's range
//   special        the values of apo:values: of four rows the first has some, the second nothing else, the third one
// No regime leaves the range that a distribution declares: what it would put outside stays typical.
// Of more than 2^24 elements the others repeat stretches of 4096 of these, each from a place that the seed draws.
std::vector<std::byte> draw_input(const Distribution& distribution, DType dtype,
                                  const std::vector<std::int64_t>& extents, std::int64_t largest, std::uint64_t seed,
                                  std::string_view regime, int threads);

}  // namespace apo
