// apo:variant    copy/cuda_honest_early_exit_on_zero
// apo:target     cuda sm_80
// apo:idea       Honest: the output of an element that is zero is written without a load of its neighbours.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  const float value = a.x[i];
  if (value == 0.0f) {
    a.y[i] = value;
    return;
  }
  a.y[i] = value;
}
