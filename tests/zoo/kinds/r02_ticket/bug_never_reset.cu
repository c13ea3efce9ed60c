// apo:variant  total/bug_never_reset
// apo:target   cuda sm_80
// apo:idea     The tickets are variables of the file, and nobody resets them for the next call.
// apo:scratch  partial 4*B*ceil_div(n,256)
// apo:launch   add grid=ceil_div(n,256),B block=64
__device__ unsigned tickets[64];
#define TICKETS tickets
#include "ticket.cuh"
