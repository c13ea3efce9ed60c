// apo:variant    copy/does_not_compile
// apo:target     cuda sm_80
// apo:idea       Uses a field that the contract does not have.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect build_failed; guard build; evidence nothing; gate build
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  a.y[i] = a.nothing;
}
