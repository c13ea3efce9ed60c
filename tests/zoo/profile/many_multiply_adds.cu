// apo:variant    zoo_copy/many_multiply_adds
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Four thousand multiply-adds an element that the result does not need.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect fp32-pipe
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  float value[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    value[j] = a.x[i] + static_cast<float>(j);
  }
#pragma unroll 16
  for (int step = 0; step < 1024; ++step) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      value[j] = fmaf(value[j], 0.5f, 0.25f);
    }
  }
  a.y[i] = fmaf(0.0f, value[0] + value[1] + value[2] + value[3], a.x[i]);
}
