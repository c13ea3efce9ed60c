// apo:variant    copy/null_pointer
// apo:target     cuda sm_80
// apo:idea       Reads through a null pointer.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence out-of-bounds access, belong to no buffer
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  const float* nothing = a.n < 0 ? a.x : nullptr;
  if (i < a.n) {
    a.y[i] = nothing[i];  // found here
  }
}
