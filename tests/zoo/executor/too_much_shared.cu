// apo:variant    copy/too_much_shared
// apo:target     cuda sm_80
// apo:idea       More dynamic shared memory than a block gets.
// apo:launch     kernel grid=ceil_div(n,128) block=128 shared=300000
// zoo: expect refused; guard build; evidence shared=300000
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
