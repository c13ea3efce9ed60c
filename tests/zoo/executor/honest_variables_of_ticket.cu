// apo:variant    copy/honest_variables_of_ticket
// apo:target     cuda sm_80
// apo:idea       The last block, found by a counter that is a variable of the file, copies what all have left and resets it.
// apo:scratch    kept 4*n
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
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
  if (last && threadIdx.x == 0) {
    blocks_done = 0;  // for the next call
  }
}
