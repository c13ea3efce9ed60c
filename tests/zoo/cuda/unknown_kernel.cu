// apo:variant    copy/unknown_kernel
// apo:target     cuda sm_80
// apo:idea       Names a kernel that it does not have.
// apo:launch     copies grid=ceil_div(n,256) block=256
// zoo: expect wrong_abi; guard build; evidence has no kernel 'copies'; gate build
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
