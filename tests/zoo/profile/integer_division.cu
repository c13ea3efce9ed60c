// apo:variant    zoo_copy/integer_division
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Places by division with a divisor that only the run knows.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect integer-arithmetic
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  unsigned at = static_cast<unsigned>(i);
  const unsigned width = static_cast<unsigned>(a.n / 1000) + threadIdx.x % 2;
  unsigned sum = 0;
#pragma unroll 4
  for (int step = 0; step < 128; ++step) {
    sum += at / width + at % width;  // planted
    at += 12345;
  }
  a.y[i] = fmaf(0.0f, static_cast<float>(sum), a.x[i]);
}
