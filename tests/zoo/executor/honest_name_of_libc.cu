// apo:variant    copy/honest_name_of_libc
// apo:target     cuda sm_80
// apo:idea       The kernel is called step and its variable daylight, as a function and a variable of the C library are.
// apo:launch     step grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" {
__device__ int daylight = 1;

__global__ void step(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n && daylight == 1) {
    a.y[i] = a.x[i];
  }
}
}
