// apo:variant  total/right_volatile
// apo:target   cuda sm_80
// apo:idea     As in the programming guide: the partial sums are volatile.
// apo:scratch  partial 4*B*ceil_div(n,256)
// apo:scratch  tickets 4*B
// apo:launch   clear grid=1 block=64
// apo:launch   add grid=ceil_div(n,256),B block=64
#define PARTIAL volatile float
#define PUBLISH \
  if (threadIdx.x == 0) { \
    partial[blockIdx.x] = sum; \
    __threadfence(); \
    last = atomicInc(ticket, gridDim.x) == gridDim.x - 1; \
  }
#include "ticket.cuh"
