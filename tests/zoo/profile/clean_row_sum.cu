// apo:variant    zoo_row_sum/clean_row_sum
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       One warp a row: eight vectors a lane, then five shuffles.
// apo:launch     kernel grid=ceil_div(rows,8) block=256
// zoo: expect none
#include "zoo_row_sum.args.h"

extern "C" __global__ void kernel(const zoo_row_sum_args a) {
  const long long row = 8LL * blockIdx.x + threadIdx.x / 32;
  const auto* x = reinterpret_cast<const float4*>(a.x + 1024 * row) + threadIdx.x % 32;
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const float4 some = x[32 * j];
    sum += some.x + some.y + some.z + some.w;
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  }
  if (threadIdx.x % 32 == 0) {
    a.y[row] = sum;
  }
}
