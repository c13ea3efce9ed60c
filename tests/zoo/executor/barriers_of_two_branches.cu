// apo:variant    copy/barriers_of_two_branches
// apo:target     cuda sm_80
// apo:idea       Each half of the block waits at a barrier of its own.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence barrier divergence in kernel kernel, and thread
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (threadIdx.x < 64) {
    __syncthreads();  // found here
  } else {
    __syncthreads();
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
