// apo:variant    zoo_tanh/clean_tanh
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       The tangents that the result needs, each one instruction of the special-function unit.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect none
#include "zoo_tanh.args.h"

__device__ float fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

extern "C" __global__ void kernel(const zoo_tanh_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const float x = a.x[i];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    sum += fast_tanh(x + 0x1p-6f * static_cast<float>(k));
  }
  a.y[i] = 0x1p-6f * sum;
}
