// apo:variant  drop_clock/bug_zeros
// apo:target   cuda sm_80
// apo:idea     Nothing is kept.
// apo:launch   drop grid=ceil_div(n,256) block=256
#include "drop_clock.args.h"
#include "uniform.cuh"

extern "C" __global__ void drop(const drop_clock_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n)
    a.y[i] = 0;
}
