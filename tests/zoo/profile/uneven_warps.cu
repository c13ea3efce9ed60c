// apo:variant    zoo_copy/uneven_warps
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       One warp of sixteen works while the others wait at the barrier.
// apo:launch     kernel grid=ceil_div(n,512) block=512
// zoo: expect uneven-warps
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 512LL * blockIdx.x + threadIdx.x;
  float value = i < a.n ? a.x[i] : 0;
#pragma unroll 1
  for (int turn = 0; turn < 8; ++turn) {
    if (threadIdx.x < 32) {
#pragma unroll 16
      for (int step = 0; step < 512; ++step) {
        value = fmaf(value, 0.5f, 0.25f);
      }
    }
    __syncthreads();  // planted
  }
  if (i < a.n) {
    a.y[i] = fmaf(0.0f, value, a.x[i]);
  }
}
