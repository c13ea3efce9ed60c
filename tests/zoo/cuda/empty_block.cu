// apo:variant    copy/empty_block
// apo:target     cuda sm_80
// apo:idea       Its blocks have no threads.
// apo:launch     k grid=ceil_div(n,256) block=n-n
// zoo: expect refused; guard build; evidence gives 0; gate build
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
