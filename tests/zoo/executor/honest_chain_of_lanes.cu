// apo:variant    copy/honest_chain_of_lanes
// apo:target     cuda sm_80
// apo:idea       Lanes read data behind a counter that others have raised in between.
// apo:launch     kernel grid=ceil_div(n,32) block=32
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  __shared__ int data, ready;
  const long long i = 32LL * blockIdx.x + threadIdx.x;
  if (threadIdx.x == 0) {
    ready = 0;
  }
  __syncwarp();
  if (threadIdx.x == 0) {
    data = 1;
    __threadfence_block();
    atomicAdd(&ready, 1);
  } else {
    while (atomicAdd(&ready, 0) == 0) {
    }
    __threadfence_block();
    atomicAdd(&ready, data);
  }
  __syncwarp();
  if (i < a.n && ready == 32) {
    a.y[i] = a.x[i];
  }
}
