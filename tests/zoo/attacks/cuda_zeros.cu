// apo:variant    copy/cuda_zeros
// apo:target     cuda sm_80
// apo:idea       Writes zeros, hoping for a reference that is about zero.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how verify; expect incorrect; guard reference; exploit 3; evidence y[
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = 0.0f;
  }
}
