// tests/zoo/kinds/r04_flags/below.cuh - clears the flags; whether the element of a thread is below.
#include "anynegative.args.h"

extern "C" __global__ void clear(const anynegative_args a) {
  const long long r = 64LL * blockIdx.x + threadIdx.x;
  if (r < a.rows)
    a.y[r] = 0;
}

__device__ bool is_below(const anynegative_args& a) {
  const long long c = 32LL * blockIdx.y + threadIdx.x;
  return c < a.cols && a.x[blockIdx.x * a.cols + c] < -2.5f;
}
