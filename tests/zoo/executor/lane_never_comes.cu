// apo:variant    copy/lane_never_comes
// apo:target     cuda sm_80
// apo:idea       Half a warp shuffles with all lanes in the mask while the rest waits at a barrier.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence missing lane, waits at __syncthreads
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  float x = i < a.n ? a.x[i] : 0;
  if (threadIdx.x % 32 < 16) {
    x = __shfl_sync(0xffffffffu, x, threadIdx.x % 32);  // found here
  }
  __syncthreads();
  if (i < a.n) {
    a.y[i] = x;
  }
}
