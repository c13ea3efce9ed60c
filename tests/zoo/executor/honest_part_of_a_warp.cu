// apo:variant    copy/honest_part_of_a_warp
// apo:target     cuda sm_80
// apo:idea       The lanes inside the array, and only they, form the mask.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  const unsigned inside = __ballot_sync(0xffffffffu, i < a.n);
  if (i >= a.n) {
    return;
  }
  const float first = __shfl_sync(inside, a.x[i], 0);
  __shared__ float tile[128];
  tile[threadIdx.x] = a.x[i];
  __syncwarp(inside);
  const unsigned lane = threadIdx.x % 32, last = 31 - __clz(inside);
  const float other = tile[threadIdx.x - lane + (last - lane)];
  const float again = __shfl_sync(inside, other, last - lane);
  a.y[i] = lane == 0 ? first : again;
}
