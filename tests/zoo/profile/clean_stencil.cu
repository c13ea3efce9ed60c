// apo:variant    zoo_stencil/clean_stencil
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       One vector a thread; what the neighbours need comes from the L1.
// apo:launch     kernel grid=ceil_div(n,1024) block=256
// zoo: expect none
#include "zoo_stencil.args.h"

extern "C" __global__ void kernel(const zoo_stencil_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const float4 x = reinterpret_cast<const float4*>(a.x)[i];
  const float left = a.x[max(4 * i - 1, 0LL)];
  const float right = a.x[min(4 * i + 4, a.n - 1)];
  reinterpret_cast<float4*>(a.y)[i] =
      make_float4(0.25f * left + 0.5f * x.x + 0.25f * x.y, 0.25f * x.x + 0.5f * x.y + 0.25f * x.z,
                  0.25f * x.y + 0.5f * x.z + 0.25f * x.w, 0.25f * x.z + 0.5f * x.w + 0.25f * right);
}
