// apo:variant    copy/honest_two_kernels
// apo:target     cuda sm_80
// apo:idea       The second kernel reads the scratch memory that the first one has written.
// apo:scratch    between 4*n
// apo:launch     first grid=ceil_div(n,128) block=128
// apo:launch     second grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void first(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    static_cast<float*>(a.between)[i] = a.x[i];
  }
}

extern "C" __global__ void second(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = static_cast<const float*>(a.between)[i];
  }
}
