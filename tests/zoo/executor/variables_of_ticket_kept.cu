// apo:variant    copy/variables_of_ticket_kept
// apo:target     cuda sm_80
// apo:idea       The last block is found by a counter that nobody resets, so that the next call has no last block.
// apo:scratch    kept 4*n
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; evidence the same call again gave other bits
#include "copy.args.h"

__device__ unsigned blocks_done;

extern "C" __global__ void kernel(const copy_args a) {
  __shared__ bool last;
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  float* kept = static_cast<float*>(a.kept);
  if (i < a.n) {
    kept[i] = a.x[i];
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(&blocks_done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  for (long long at = threadIdx.x; last && at < a.n; at += 128) {
    a.y[at] = kept[at];
  }
}
