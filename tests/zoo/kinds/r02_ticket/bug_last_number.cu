// apo:variant  total/bug_last_number
// apo:target   cuda sm_80
// apo:idea     The block with the largest number takes itself for the last one.
// apo:scratch  partial 4*B*ceil_div(n,256)
// apo:scratch  tickets 4*B
// apo:launch   clear grid=1 block=64
// apo:launch   add grid=ceil_div(n,256),B block=64
#define PUBLISH \
  if (threadIdx.x == 0) { \
    partial[blockIdx.x] = sum; \
    __threadfence(); \
    last = blockIdx.x == gridDim.x - 1; \
    if (!last) \
      atomicAdd(ticket, 1u); \
  }
#include "ticket.cuh"
