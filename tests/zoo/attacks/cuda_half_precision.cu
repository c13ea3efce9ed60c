// apo:variant    copy/cuda_half_precision
// apo:target     cuda sm_80
// apo:idea       Takes the upper half of every float: bf16 where the contract says float.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how verify; expect incorrect; guard reference; exploit 15; evidence y[
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = __uint_as_float(__float_as_uint(a.x[i]) & 0xffff0000u);
  }
}
