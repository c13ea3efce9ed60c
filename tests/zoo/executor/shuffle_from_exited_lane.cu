// apo:variant    copy/shuffle_from_exited_lane
// apo:target     cuda sm_80
// apo:idea       The lanes past the end return before the warp sums.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence missing lane, does not take part
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  const float other = __shfl_xor_sync(0xffffffffu, a.x[i], 16);  // found here
  a.y[i] = other == other ? a.x[i] : 0;
}
