// apo:variant    copy/waits_forever
// apo:target     cuda sm_80
// apo:idea       Spins on a flag that nobody sets.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect timed_out; guard deadline
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ volatile int ready;
  ready = 0;
  while (ready == 0) {
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
