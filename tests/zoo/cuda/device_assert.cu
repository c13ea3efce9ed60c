// apo:variant    copy/device_assert
// apo:target     cuda sm_80
// apo:idea       Fails an assertion of its own.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect faulted; guard process; evidence CUDA_ERROR_ASSERT
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  if (i == 0) {
    __assertfail("false", "device_assert.cu", 1, "k", sizeof(char));
  }
}
