// apo:variant  total/bug_fence_too_early
// apo:target   cuda sm_80
// apo:idea     The fence stands before the partial sum.
// apo:scratch  partial 4*B*ceil_div(n,256)
// apo:scratch  tickets 4*B
// apo:launch   clear grid=1 block=64
// apo:launch   add grid=ceil_div(n,256),B block=64
#define PUBLISH \
  if (threadIdx.x == 0) { \
    __threadfence(); \
    partial[blockIdx.x] = sum; \
    last = atomicAdd(ticket, 1u) == gridDim.x - 1; \
  }
#include "ticket.cuh"
