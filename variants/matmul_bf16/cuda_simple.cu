// apo:variant    matmul_bf16/cuda_simple
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread owns an element of the result.
// apo:launch     multiply grid=ceil_div(N,16),ceil_div(M,16) block=16,16
#include "matmul_bf16.args.h"

extern "C" __global__ void multiply(const matmul_bf16_args a) {
  const long long n = 16LL * blockIdx.x + threadIdx.x;
  const long long m = 16LL * blockIdx.y + threadIdx.y;
  if (m >= a.M || n >= a.N) {
    return;
  }
  float sum = 0;
  for (long long k = 0; k < a.K; ++k) {
    sum += __bfloat162float(a.a[m * a.K + k]) * __bfloat162float(a.b[n * a.K + k]);
  }
  a.c[m * a.N + n] = sum;
}
