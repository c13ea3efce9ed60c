// tests/zoo/attacks/slow_copy.cuh - the work of the slow device candidates of this folder.
#pragma once

#include "copy.args.h"

// So many multiplications by one that the compiler cannot see through.
template <int kSteps = 8000>
static __device__ float slowly(float value, long long n) {
  const float one = n > 0 ? 1.0f : 2.0f;
#pragma unroll 16
  for (int step = 0; step < kSteps; ++step) {
    value *= one;
  }
  return value;
}
