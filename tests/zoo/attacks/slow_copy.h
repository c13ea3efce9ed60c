// tests/zoo/attacks/slow_copy.h - the work of the slow host candidates of this folder.
#pragma once

#include "copy_abi.h"

// So many multiplications of every element by one that the compiler cannot see through.
template <int kSteps = 200>
static void copy_slowly(const copy_args& args) {
  const float one = args.n > 0 ? 1.0F : 2.0F;
  const volatile float unknown_one = one;
  const float factor = unknown_one;
  for (int64_t i = 0; i < args.n; ++i) {
    float value = args.x[i];
    for (int step = 0; step < kSteps; ++step) {
      value *= factor;
    }
    args.y[i] = value;
  }
}
