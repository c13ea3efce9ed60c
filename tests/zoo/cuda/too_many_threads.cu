// apo:variant    copy/too_many_threads
// apo:target     cuda sm_80
// apo:idea       Asks for blocks that no device takes.
// apo:launch     k grid=ceil_div(n,2048) block=2048
// zoo: expect refused; guard build; evidence 2048x1x1 threads is more than; gate build
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
