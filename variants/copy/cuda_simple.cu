// apo:variant    copy/cuda_simple
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       One thread an element, as anyone would write it first.
// apo:launch     copy_elements grid=ceil_div(n,256) block=256
#include "copy.args.h"

extern "C" __global__ void copy_elements(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
