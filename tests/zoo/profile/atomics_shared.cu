// apo:variant    zoo_copy/atomics_shared
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Lanes add to the same few words of shared memory.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect atomics
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  __shared__ int sums[4];
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (threadIdx.x < 4) {
    sums[threadIdx.x] = 0;
  }
  __syncthreads();
  const float value = i < a.n ? a.x[i] : 0;
  const int bits = static_cast<int>(__float_as_uint(value) >> 1);
#pragma unroll 4
  for (int step = 0; step < 16; ++step) {
    atomicAdd(&sums[(bits >> step) & 3], bits & 255);  // planted
  }
  __syncthreads();
  if (i < a.n) {
    a.y[i] = fmaf(0.0f, static_cast<float>(sums[threadIdx.x % 4]), value);
  }
}
