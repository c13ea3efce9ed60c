// apo:variant    copy/cuda_writes_nan
// apo:target     cuda sm_80
// apo:idea       Writes NaN, hoping for a comparison that NaN passes.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how verify; expect incorrect; guard reference; exploit 17; evidence nan
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = __uint_as_float(0x7fc00000u);
  }
}
