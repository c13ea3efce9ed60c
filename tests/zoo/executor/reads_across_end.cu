// apo:variant    copy/reads_across_end
// apo:target     cuda sm_80
// apo:idea       Loads four floats at a time, the last ones across the end.
// apo:launch     kernel grid=ceil_div(n,512) block=128
// zoo: expect incorrect; guard executor; evidence out-of-bounds access, 16 bytes at byte 4000 of x, which has 4004
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 4 * (128LL * blockIdx.x + threadIdx.x);
  if (i < a.n) {
    const float4 x = *reinterpret_cast<const float4*>(a.x + i);  // found here
    a.y[i] = x.x + x.y + x.z + x.w;
  }
}
