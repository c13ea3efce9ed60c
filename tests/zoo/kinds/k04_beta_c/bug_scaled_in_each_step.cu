// apo:variant  beta_c/bug_scaled_in_each_step
// apo:target   cuda
// apo:idea     C is scaled again with every chunk of K.
// apo:launch   product grid=ceil_div(N,16),ceil_div(M,16) block=16,16
#include "beta_c.args.h"
extern "C" __global__ void product(beta_c_args a) {
  const long long n = blockIdx.x * 16LL + threadIdx.x;
  const long long m = blockIdx.y * 16LL + threadIdx.y;
  if (n < a.N && m < a.M) {
    float* c = a.C + m * a.N + n;
    for (long long begin = 0; begin < a.K; begin += 8) {
      float total = 0;
      for (long long k = begin; k < a.K && k < begin + 8; ++k)
        total += a.A[m * a.K + k] * a.B[k * a.N + n];
      *c = total + a.beta * *c;
    }
  }
}
