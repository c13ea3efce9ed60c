// apo:variant    copy/cuda_writes_before_the_start
// apo:target     cuda sm_80
// apo:idea       Is right, and writes one element in front of its output.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how verify; expect incorrect; guard guard-zones; exploit 30; evidence before the start of
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  if (i == 0) {
    a.y[-1] = 0.0f;
  }
}
