// apo:variant    copy/honest_double_buffer
// apo:target     cuda sm_80
// apo:idea       Asynchronous copies into two tiles in turn, each waited for and behind a barrier.
// apo:launch     kernel grid=1 block=128
// zoo: expect valid
#include "copy.args.h"

#include <cuda_pipeline_primitives.h>

__device__ void start(const copy_args& a, float* tile, long long first) {
  if (first + threadIdx.x < a.n) {
    __pipeline_memcpy_async(&tile[threadIdx.x], a.x + first + threadIdx.x, 4);
  }
  __pipeline_commit();
}

extern "C" __global__ void kernel(const copy_args a) {
  __shared__ float tiles[2][128];
  start(a, tiles[0], 0);
  int turn = 0;
  for (long long first = 0; first < a.n; first += 128, turn = 1 - turn) {
    start(a, tiles[1 - turn], first + 128);
    __pipeline_wait_prior(1);
    __syncthreads();
    const int other = 127 - threadIdx.x;
    if (first + other < a.n) {
      a.y[first + other] = tiles[turn][other];
    }
    __syncthreads();
  }
}
