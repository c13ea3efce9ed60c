// apo:variant  total/bug_no_fence_of_atomics
// apo:target   cuda sm_80
// apo:idea     The last block reads what all blocks added by atomics; nothing orders that before the ticket.
// apo:scratch  partial 4*B
// apo:scratch  tickets 4*B
// apo:launch   clear grid=1 block=64
// apo:launch   add grid=ceil_div(n,256),B block=64
#define FENCE
#include "atomics.cuh"
