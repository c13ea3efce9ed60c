// apo:variant    zoo_polynomial/clean_polynomial
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Four elements a thread, so that multiply-adds follow each other without a wait.
// apo:launch     kernel grid=ceil_div(n,1024) block=256
// zoo: expect none
#include "zoo_polynomial.args.h"

extern "C" __global__ void kernel(const zoo_polynomial_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const float4 x = reinterpret_cast<const float4*>(a.x)[i];
  const float half[4] = {0.5f * x.x, 0.5f * x.y, 0.5f * x.z, 0.5f * x.w};
  float value[4] = {x.x, x.y, x.z, x.w};
#pragma unroll 16
  for (int step = 0; step < 256; ++step) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      value[j] = fmaf(half[j], value[j], 0.5f);
    }
  }
  reinterpret_cast<float4*>(a.y)[i] = make_float4(value[0], value[1], value[2], value[3]);
}
