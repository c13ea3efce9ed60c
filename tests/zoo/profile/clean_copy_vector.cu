// apo:variant    zoo_copy/clean_copy_vector
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Four vectors of 16 bytes a thread, all under way before the first is stored.
// apo:launch     kernel grid=ceil_div(n,4096) block=256
// zoo: expect none
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const auto* x = reinterpret_cast<const float4*>(a.x);
  auto* y = reinterpret_cast<float4*>(a.y);
  const long long first = 1024LL * blockIdx.x + threadIdx.x;  // n % 4096 == 0 in every workload
  float4 moved[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    moved[j] = x[first + 256 * j];
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    y[first + 256 * j] = moved[j];
  }
}
