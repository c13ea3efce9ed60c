// apo:variant    zoo_copy/atomics_global
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Every thread draws a ticket from one counter.
// apo:scratch    tickets 64
// apo:launch     clear grid=1 block=1
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect atomics
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void clear(const zoo_copy_args a) {
  *static_cast<float*>(a.tickets) = 0;
}

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = fmaf(0.0f, atomicAdd(static_cast<float*>(a.tickets), 1.0f), a.x[i]);  // planted
  }
}
