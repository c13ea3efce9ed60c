// apo:variant    zoo_copy/clean_copy_streaming
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Loads and stores that tell the caches that nothing is used again.
// apo:launch     kernel grid=ceil_div(n,2048) block=256
// zoo: expect none
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const auto* x = reinterpret_cast<const float4*>(a.x);
  auto* y = reinterpret_cast<float4*>(a.y);
  const long long first = 512LL * blockIdx.x + threadIdx.x;
  const float4 one = __ldcs(x + first);
  const float4 two = __ldcs(x + first + 256);
  __stcs(y + first, one);
  __stcs(y + first + 256, two);
}
