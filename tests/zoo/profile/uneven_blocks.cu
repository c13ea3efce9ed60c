// apo:variant    zoo_copy/uneven_blocks
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       The last block has as much to do as all the others together.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect uneven-blocks
// zoo: workload n1m
// zoo: cpu slow
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  const int steps = blockIdx.x == gridDim.x - 1 ? 1 << 17 : 64;
  float value = a.x[i];
#pragma unroll 16
  for (int step = 0; step < steps; ++step) {
    value = fmaf(value, 0.5f, 0.25f);
  }
  a.y[i] = fmaf(0.0f, value, a.x[i]);
}
