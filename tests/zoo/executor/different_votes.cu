// apo:variant    copy/different_votes
// apo:target     cuda sm_80
// apo:idea       Two halves of a warp vote with the same mask in different ways.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence missing lane
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  const bool inside = i < a.n;
  unsigned all = 0;
  if (threadIdx.x % 2 == 0) {
    all = __ballot_sync(0xffffffffu, inside);  // found here
  } else {
    all = __any_sync(0xffffffffu, inside);
  }
  if (inside && all != 0) {
    a.y[i] = a.x[i];
  }
}
