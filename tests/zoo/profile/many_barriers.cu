// apo:variant    zoo_copy/many_barriers
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       A block barrier after every multiply-add.
// apo:launch     kernel grid=ceil_div(n,1024) block=1024 shared=122880
// zoo: expect barrier-stalls
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 1024LL * blockIdx.x + threadIdx.x;
  float value = i < a.n ? a.x[i] : 0;
#pragma unroll 8
  for (int step = 0; step < 512; ++step) {
    value = fmaf(value, 0.5f, 0.25f);
    __syncthreads();  // planted
  }
  if (i < a.n) {
    a.y[i] = fmaf(0.0f, value, a.x[i]);
  }
}
