// apo:variant    copy/barrier_in_branch
// apo:target     cuda sm_80
// apo:idea       Half of the threads wait at a barrier that the others never reach.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence barrier divergence in kernel kernel
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (threadIdx.x < 64) {
    __syncthreads();  // found here
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
