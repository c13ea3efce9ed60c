// apo:variant    copy/atomic_and_plain
// apo:target     cuda sm_80
// apo:idea       One thread resets a counter that the others add to.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence shared-memory race
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ int count;
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();
  atomicAdd(&count, 1);
  if (threadIdx.x == 77) {
    count = 0;  // found here
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
