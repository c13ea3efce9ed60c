// apo:variant    zoo_copy/many_tanhs
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Five hundred hyperbolic tangents an element that the result does not need.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect special-function-pipe
// zoo: workload n1m
#include "zoo_copy.args.h"

__device__ float fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  float sum = 0;
  float place = a.x[i];
#pragma unroll 16
  for (int step = 0; step < 512; ++step) {
    sum += fast_tanh(place);
    place += 0.5f;
  }
  a.y[i] = fmaf(0.0f, sum, a.x[i]);
}
