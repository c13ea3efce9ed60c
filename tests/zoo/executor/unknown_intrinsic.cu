// apo:variant    copy/unknown_intrinsic
// apo:target     cuda sm_80
// apo:idea       A function of the toolkit that the CPU does not have.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect not_checkable; guard build; evidence not checkable on the CPU:
// zoo: evidence '__no_such_intrinsic' was not declared
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  const float x = __no_such_intrinsic(i);
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
