// apo:variant    copy/misaligned_access
// apo:target     cuda sm_80
// apo:idea       Stores eight bytes where four are aligned.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect faulted; guard process; evidence CUDA_ERROR_MISALIGNED_ADDRESS
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  if (i == 0) {
    *reinterpret_cast<double*>(a.y + 1) = 1;
  }
}
