// apo:variant    copy/exits_before_barrier
// apo:target     cuda sm_80
// apo:idea       Threads past the end return, and the others wait for them.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence barrier divergence, exited
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  __shared__ float tile[128];
  tile[threadIdx.x] = a.x[i];
  __syncthreads();  // found here
  a.y[i] = tile[threadIdx.x];
}
