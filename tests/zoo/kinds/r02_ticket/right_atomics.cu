// apo:variant  total/right_atomics
// apo:target   cuda sm_80
// apo:idea     The last block reads what all blocks added by atomics, each behind a fence.
// apo:scratch  partial 4*B
// apo:scratch  tickets 4*B
// apo:launch   clear grid=1 block=64
// apo:launch   add grid=ceil_div(n,256),B block=64
#define FENCE __threadfence()
#include "atomics.cuh"
