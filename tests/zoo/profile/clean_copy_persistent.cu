// apo:variant    zoo_copy/clean_copy_persistent
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       As many blocks as the SMs hold walk over the tensor.
// apo:launch     kernel grid=8*SMS block=256
// zoo: expect none
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const auto* x = reinterpret_cast<const float4*>(a.x);
  auto* y = reinterpret_cast<float4*>(a.y);
#pragma unroll 4
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < a.n / 4; i += 256LL * gridDim.x) {
    y[i] = x[i];
  }
}
