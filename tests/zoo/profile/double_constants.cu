// apo:variant    zoo_polynomial/double_constants
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Constants without an f make the whole polynomial double.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect double-precision
#include "zoo_polynomial.args.h"

extern "C" __global__ void kernel(const zoo_polynomial_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  const float half = 0.5f * a.x[i];
  double value = a.x[i];
#pragma unroll 16
  for (int step = 0; step < 256; ++step) {
    value = half * value + 0.5;  // planted
  }
  a.y[i] = static_cast<float>(value);
}
