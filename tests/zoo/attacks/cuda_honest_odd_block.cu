// apo:variant    copy/cuda_honest_odd_block
// apo:target     cuda sm_80
// apo:idea       Honest: blocks of 96 by 3 threads, in a grid of two dimensions.
// apo:launch     k grid=ceil_div(ceil_div(n,288),7),7 block=96,3
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long block = blockIdx.y + 7LL * blockIdx.x;
  const long long i = 288LL * block + threadIdx.x + 96LL * threadIdx.y;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
