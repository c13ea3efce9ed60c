// apo:variant    zoo_copy/clean_copy
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       One thread an element, neighbours beside each other.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect none
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
