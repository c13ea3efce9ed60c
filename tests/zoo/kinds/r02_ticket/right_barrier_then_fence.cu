// apo:variant  total/right_barrier_then_fence
// apo:target   cuda sm_80
// apo:idea     One thread passes the fence, behind the barrier, for all of its block.
// apo:scratch  partial 4*B*ceil_div(n,256)
// apo:scratch  tickets 4*B
// apo:launch   clear grid=1 block=64
// apo:launch   add grid=ceil_div(n,256),B block=64
#define PUBLISH \
  if (threadIdx.x == 5) \
    partial[blockIdx.x] = sum; \
  __syncthreads(); \
  if (threadIdx.x == 0) { \
    __threadfence(); \
    last = atomicAdd(ticket, 1u) == gridDim.x - 1; \
    __threadfence(); \
  }
#include "ticket.cuh"
