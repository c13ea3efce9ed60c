// harness/evaluate/correctness/every_element.h - looks at all elements of a call's outputs, and names the units that
// only the reference can decide.
//
// The reference computes few units of a large workload. The other ones are held against a witness: another call on the
// same inputs, or the whole reference where that is cheap. Where there is none yet, only those are found that still
// hold what filled the outputs before the call.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/runtime/tensor_data.h"

namespace apo {

// A unit on which two calls differ by more than both may be off, or that holds elements that were not written.
struct DoubtfulUnit {
  std::int64_t unit = 0;
  double doubt = 0;  // how far beyond, to rank them
};

// All doubtful units, the one with most doubt first. With a witness w, an element x is in doubt where
//   |x - w| > 2 (rounding + element_sigmas * scale)
// for the rounding and the scale of struct Tolerance at w, and a unit where (x - w) / 2 exceeds the rms bound. The
// scale is max(typical.relative * magnitude, typical.smallest), the magnitude the larger of |w| and the RMS of its
// group. What a family's noise makes larger than this is in doubt and right. Without a witness (null), and of random
// outputs, an element is in doubt that holds its poison; of these also a unit that differs from the witness unlike the
// others; of an integer, where that may be a right value, a unit has the more doubt the more of them it has. With a
// witness, an element of a float or a bool is in doubt too where both calls left it unwritten. Compares on up to
// `threads` threads.
std::vector<DoubtfulUnit> doubtful_units(const Family& family, const Axes& axes, const TypicalErrors& typical,
                                         const OutputViews& outputs, const OutputViews* witness, int threads);

}  // namespace apo
