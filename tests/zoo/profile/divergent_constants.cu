// apo:variant    zoo_copy/divergent_constants
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       The lanes of a warp read a table of constants at different places, which takes a request each.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect constant-serialisation
// zoo: workload n1m
#include "zoo_copy.args.h"

__constant__ float table[256];

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  unsigned at = __float_as_uint(a.x[i]) + 7 * threadIdx.x;
  float sum = 0;
#pragma unroll 4
  for (int step = 0; step < 64; ++step) {
    sum += table[(at + 3 * step) % 256];  // planted
  }
  a.y[i] = fmaf(0.0f, sum, a.x[i]);
}
