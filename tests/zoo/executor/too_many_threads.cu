// apo:variant    copy/too_many_threads
// apo:target     cuda sm_80
// apo:idea       A block of more threads than there are.
// apo:launch     kernel grid=ceil_div(n,2048) block=2048
// zoo: expect refused; guard build; evidence a block of 2048x1x1 threads is more than the 1024
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
