// apo:variant    copy/endless_loop
// apo:target     cuda sm_80
// apo:idea       A loop without a load or a store that has no end.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect timed_out; guard deadline
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  unsigned state = threadIdx.x | 1;
  while (state != 0) {
    state = state * 1664525u + 1013904223u | 1;
  }
  if (i < a.n) {
    a.y[i] = state;
  }
}
