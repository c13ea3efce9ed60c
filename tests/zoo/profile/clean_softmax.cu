// apo:variant    zoo_softmax/clean_softmax
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       One warp a row, which it keeps in registers: one read, one write.
// apo:launch     kernel grid=ceil_div(rows,8) block=256
// zoo: expect none
#include "zoo_softmax.args.h"

extern "C" __global__ void kernel(const zoo_softmax_args a) {
  const long long row = 8LL * blockIdx.x + threadIdx.x / 32;
  const auto* x = reinterpret_cast<const float4*>(a.x + 1024 * row) + threadIdx.x % 32;
  auto* y = reinterpret_cast<float4*>(a.y + 1024 * row) + threadIdx.x % 32;
  float4 kept[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    kept[j] = x[32 * j];
  }
  float most = kept[0].x;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    most = fmaxf(most, fmaxf(fmaxf(kept[j].x, kept[j].y), fmaxf(kept[j].z, kept[j].w)));
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
  }
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    kept[j] = make_float4(__expf(kept[j].x - most), __expf(kept[j].y - most), __expf(kept[j].z - most),
                          __expf(kept[j].w - most));
    sum += kept[j].x + kept[j].y + kept[j].z + kept[j].w;
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  }
  const float scale = 1.0f / sum;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    y[32 * j] = make_float4(scale * kept[j].x, scale * kept[j].y, scale * kept[j].z, scale * kept[j].w);
  }
}
