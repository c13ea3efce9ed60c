// apo:variant  total/right
// apo:target   cuda sm_80
// apo:idea     The last block adds the partial sums, each of which lies behind a fence.
// apo:scratch  partial 4*B*ceil_div(n,256)
// apo:scratch  tickets 4*B
// apo:launch   clear grid=1 block=64
// apo:launch   add grid=ceil_div(n,256),B block=64
#include "ticket.cuh"
