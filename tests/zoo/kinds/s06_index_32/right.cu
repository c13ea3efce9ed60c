// apo:variant  flipped/right
// apo:target   cuda sm_80
// apo:idea     A place of 64 bits.
// apo:launch   flip grid=ceil_div(n,256) block=256
#include "flipped.args.h"

extern "C" __global__ void flip(const flipped_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n)
    a.y[i] = static_cast<signed char>(3 - a.x[i]);
}
