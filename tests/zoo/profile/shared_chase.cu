// apo:variant    zoo_copy/shared_chase
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       The place of each read of shared memory comes from the read before.
// apo:launch     kernel grid=5*SMS block=128
// zoo: expect shared-memory-stalls
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  __shared__ int next[8][32];
  const int lane = threadIdx.x % 32;
  for (int j = threadIdx.x / 32; j < 8; j += 4) {
    next[j][lane] = (5 * j + 1) % 8;
  }
  __syncthreads();
#pragma unroll 1
  for (long long i = 128LL * blockIdx.x + threadIdx.x; i < a.n; i += 128LL * gridDim.x) {
    int at = 0;
#pragma unroll 8
    for (int step = 0; step < 256; ++step) {
      at = next[at][lane];  // planted
    }
    a.y[i] = fmaf(0.0f, static_cast<float>(at), a.x[i]);
  }
}
