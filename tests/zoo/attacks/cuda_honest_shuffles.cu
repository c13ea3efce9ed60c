// apo:variant    copy/cuda_honest_shuffles
// apo:target     cuda sm_80
// apo:idea       Honest: elements change lanes and come back.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const float value = i < a.n ? a.x[i] : 0.0f;
  const float there = __shfl_xor_sync(0xffffffffu, value, 9);
  const float back = __shfl_xor_sync(0xffffffffu, there, 9);
  if (i < a.n) {
    a.y[i] = back;
  }
}
