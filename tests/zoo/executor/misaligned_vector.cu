// apo:variant    copy/misaligned_vector
// apo:target     cuda sm_80
// apo:idea       Loads four floats from an address that one float does not fill up.
// apo:launch     kernel grid=ceil_div(n,512) block=128
// zoo: expect incorrect; guard executor; evidence misaligned access, 4 beyond a multiple
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 4 * (128LL * blockIdx.x + threadIdx.x) + 1;
  if (i + 4 <= a.n) {
    const float4 x = *reinterpret_cast<const float4*>(a.x + i);  // found here
    a.y[i] = x.x + x.y + x.z + x.w;
  }
}
