// apo:variant    copy/device_trap
// apo:target     cuda sm_80
// apo:idea       Stops itself.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect faulted; guard process; evidence CUDA_ERROR
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  __trap();
}
