// apo:variant    copy/cuda_in_one_go
// apo:target     cuda sm_80
// apo:idea       Honest: loads all that a thread copies at once, and multiplies it by one three and a half thousand times; hardly slower when its input is not in the L2.
// apo:launch     k grid=ceil_div(n,8192) block=256
// zoo: expect valid; cpu no
#include "copy.args.h"

constexpr int kEach = 32;

extern "C" __global__ void k(const copy_args a) {
  const long long first = 8192LL * blockIdx.x + threadIdx.x;
  float values[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    values[e] = first + 256 * e < a.n ? a.x[first + 256 * e] : 0.0f;
  }
  // By one, which the compiler cannot see.
  const float one = a.n > 0 ? 1.0f : 2.0f;
#pragma unroll 16
  for (int step = 0; step < 3500; ++step) {
    values[0] *= one;
  }
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    if (first + 256 * e < a.n) {
      a.y[first + 256 * e] = values[e];
    }
  }
}
