// apo:variant    copy/honest_variables
// apo:target     cuda sm_80
// apo:idea       A variable counts calls, which changes no result.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

__constant__ float factors[4] = {1, 1, 1, 1};
__device__ unsigned calls = 0;

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    atomicAdd(&calls, 1u);
  }
  if (i < a.n) {
    a.y[i] = a.x[i] * factors[i % 4];
  }
}
