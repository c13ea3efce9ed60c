// apo:variant    copy/cuda_drops_small_terms
// apo:target     cuda sm_80
// apo:idea       Leaves out elements below a thousandth, which hardly change any norm.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how verify; expect incorrect; guard reference; exploit 16; evidence y[
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = fabsf(a.x[i]) < 1e-3f ? 0.0f : a.x[i];
  }
}
