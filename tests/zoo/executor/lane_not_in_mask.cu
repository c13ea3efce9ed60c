// apo:variant    copy/lane_not_in_mask
// apo:target     cuda sm_80
// apo:idea       All lanes shuffle with a mask of half of them.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence missing lane, leaves it out
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  const float x = i < a.n ? a.x[i] : 0;
  const float twice = __shfl_xor_sync(0x0000ffffu, __shfl_xor_sync(0xffffffffu, x, 1), 1);  // found here
  if (i < a.n) {
    a.y[i] = twice;
  }
}
