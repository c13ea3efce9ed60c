// apo:variant    copy/missing_kernel
// apo:target     cuda sm_80
// apo:idea       Launches a kernel that the file does not have.
// apo:launch     other_kernel grid=1 block=32
// zoo: expect wrong_abi; guard build; evidence other_kernel
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
