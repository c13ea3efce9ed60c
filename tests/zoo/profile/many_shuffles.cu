// apo:variant    zoo_copy/many_shuffles
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       A thousand shuffles an element that the result does not need.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect shuffle-bound
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  float value = i < a.n ? a.x[i] : 0;
#pragma unroll 16
  for (int step = 0; step < 1024; ++step) {
    value = 0.5f * __shfl_xor_sync(0xffffffffu, value, 1 + step % 16);
  }
  if (i < a.n) {
    a.y[i] = fmaf(0.0f, value, a.x[i]);
  }
}
