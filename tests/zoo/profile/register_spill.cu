// apo:variant    zoo_copy/register_spill
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       A thread keeps 64 values in 32 registers.
// apo:launch     kernel grid=ceil_div(n,65536) block=1024
// zoo: expect register-spills
#include "zoo_copy.args.h"

extern "C" __global__ void __launch_bounds__(1024, 2) kernel(const zoo_copy_args a) {
  const long long first = 65536LL * blockIdx.x + threadIdx.x;
  float values[64];
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 64; ++j) {
    values[j] = first + 1024 * j < a.n ? a.x[first + 1024 * j] : 0;
    sum += values[j];
  }
#pragma unroll
  for (int j = 0; j < 64; ++j) {
    if (first + 1024 * j < a.n) {
      a.y[first + 1024 * j] = fmaf(0.0f, sum, values[j]);
    }
  }
}
