// apo:variant    copy/cuda_slower
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Honest: multiplies every element by one forty thousand times, the work that the attacks of this folder pretend to do.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect valid
// zoo: cpu no
#include "copy.args.h"

// Forty thousand multiplications by one that the compiler cannot see through.
__device__ float slowly(float value, long long n) {
  const float one = n > 0 ? 1.0f : 2.0f;
#pragma unroll 16
  for (int step = 0; step < 40000; ++step) {
    value *= one;
  }
  return value;
}

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}
