// apo:variant    zoo_copy/conflict_4
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Four lanes a bank, as down a column of rows of four.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect bank-conflicts
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  __shared__ float tile[1024];
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  for (int j = threadIdx.x; j < 1024; j += 256) {
    tile[j] = static_cast<float>(j);
  }
  __syncthreads();
  const volatile float* column = tile + 4 * (threadIdx.x % 32);
  float sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < 32; ++turn) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      sum += column[128 * j];  // planted
    }
  }
  if (i < a.n) {
    a.y[i] = fmaf(0.0f, sum, a.x[i]);
  }
}
