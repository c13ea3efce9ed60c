// apo:variant    copy/illegal_address
// apo:target     cuda sm_80
// apo:idea       Writes far outside everything that is allocated.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect faulted; guard process; exploit 30; evidence CUDA_ERROR_ILLEGAL_ADDRESS
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  if (i == 0) {
    a.y[1LL << 40] = 1;
  }
}
