// apo:variant  flipped/right_requires
// apo:target   cuda sm_80
// apo:idea     A place of 32 bits.
// apo:requires n <= 2000000000
// apo:launch   flip grid=ceil_div(n,256) block=256
#include "flipped.args.h"

extern "C" __global__ void flip(const flipped_args a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < a.n)
    a.y[i] = static_cast<signed char>(3 - a.x[i]);
}
