// apo:variant  twice/right_own_macros
// apo:target   cuda sm_80
// apo:idea     Has a guard and settings of its own.
// apo:launch   kernel grid=ceil_div(n,128) block=128
#include "twice.args.h"
#ifndef FACTOR
#define FACTOR 2
#define FACTOR_GIVEN
#endif
#if FACTOR != 2
#error "twice"
#endif

extern "C" __global__ void kernel(const twice_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
#ifdef FACTOR_GIVEN
  if (i < a.n)
    a.y[i] = FACTOR * a.x[i];
#endif
}
