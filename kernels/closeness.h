// kernels/closeness.h - how near an output is to the reference, in the units of its tolerance; NaN is never near.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/family.h"

namespace apo {

// Both at most 1 when the output is right; infinity when an element is not finite.
struct Closeness {
  double element = 0;              // max of |x-ref| - rounding, over element_sigmas * scale
  double rms = 0;                  // the rms statistic over its limit
  std::int64_t worst_element = 0;  // index into the spans
  bool holds() const { return element <= 1 && rms <= 1; }
};

// All elements of one unit of one tensor, in the order of unit_elements. The spans have one length.
Closeness closeness(const Tolerance& tolerance, std::span<const double> expected, std::span<const double> noise,
                    std::span<const double> actual);

// The part of it that is one element's: |x-ref| - rounding over element_sigmas * scale.
double element_closeness(const Tolerance& tolerance, double expected, double scale, double actual);
// The largest |x-ref| of an element that is right.
double element_bound(const Tolerance& tolerance, double expected, double scale);

// Where the group of struct Tolerance that begins there ends, of `count` elements of one unit.
inline std::size_t group_end(const Tolerance& tolerance, std::size_t count, std::size_t begin) {
  const std::size_t group = tolerance.group > 1 ? static_cast<std::size_t>(tolerance.group) : 1;
  return begin + 2 * group > count ? count : begin + group;  // the last one has what is left
}
// scale_i of struct Tolerance for all elements of one unit.
std::vector<double> error_scales(const Tolerance& tolerance, std::span<const double> noise);

}  // namespace apo
