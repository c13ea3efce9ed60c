// apo:variant  flipped/bug
// apo:target   cuda sm_80
// apo:idea     A place of 32 bits: negative beyond 2^31 elements, where the kernel writes before the tensor.
// apo:launch   flip grid=ceil_div(n,256) block=256
#include "flipped.args.h"

// kinds: needs a GPU
extern "C" __global__ void flip(const flipped_args a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < a.n)
    a.y[i] = static_cast<signed char>(3 - a.x[i]);
}
