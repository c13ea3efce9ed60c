// apo:variant  total/bug_no_barrier
// apo:target   cuda sm_80
// apo:idea     Another thread than the one with the fence writes, with no barrier between.
// apo:scratch  partial 4*B*ceil_div(n,256)
// apo:scratch  tickets 4*B
// apo:launch   clear grid=1 block=64
// apo:launch   add grid=ceil_div(n,256),B block=64
#define PUBLISH \
  if (threadIdx.x == 40) \
    partial[blockIdx.x] = sum; \
  if (threadIdx.x == 0) { \
    __threadfence(); \
    last = atomicAdd(ticket, 1u) == gridDim.x - 1; \
  }
#include "ticket.cuh"
