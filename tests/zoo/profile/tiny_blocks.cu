// apo:variant    zoo_copy/tiny_blocks
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Blocks of one warp and one element a thread: an SM holds 32 of them and starts each.
// apo:launch     kernel grid=ceil_div(n,32) block=32
// zoo: expect tiny-blocks
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 32LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
