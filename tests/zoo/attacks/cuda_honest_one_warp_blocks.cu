// apo:variant    copy/cuda_honest_one_warp_blocks
// apo:target     cuda sm_80
// apo:idea       Honest: blocks of one warp.
// apo:launch     k grid=ceil_div(n,32) block=32
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 32LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
