// apo:variant    copy/honest_syncwarp
// apo:target     cuda sm_80
// apo:idea       A warp passes values through shared memory with __syncwarp between.
// apo:flags      -std=c++17
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[128];
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = i < a.n ? a.x[i] : 0;
    __syncwarp();
    const float x = tile[threadIdx.x ^ 31];
    __syncwarp();
    tile[threadIdx.x ^ 31] = x;
    __syncwarp();
  }
  if (i < a.n) {
    a.y[i] = tile[threadIdx.x];
  }
}
