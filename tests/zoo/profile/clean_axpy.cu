// apo:variant    zoo_axpy/clean_axpy
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       One vector of 16 bytes a thread.
// apo:launch     kernel grid=ceil_div(n,1024) block=256
// zoo: expect none
#include "zoo_axpy.args.h"

extern "C" __global__ void kernel(const zoo_axpy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const float4 x = reinterpret_cast<const float4*>(a.x)[i];
  const float4 z = reinterpret_cast<const float4*>(a.z)[i];
  reinterpret_cast<float4*>(a.y)[i] =
      make_float4(fmaf(2.5f, x.x, z.x), fmaf(2.5f, x.y, z.y), fmaf(2.5f, x.z, z.z), fmaf(2.5f, x.w, z.w));
}
