// apo:variant    copy/honest_flag
// apo:target     cuda sm_80
// apo:idea       One thread waits in a loop for a flag that another one sets behind its data.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float data;
  __shared__ volatile int ready;
  if (threadIdx.x == 0) {
    ready = 0;
  }
  __syncthreads();
  if (threadIdx.x == 100) {
    data = 1;
    __threadfence_block();
    ready = 1;
  }
  if (threadIdx.x == 3) {
    while (ready == 0) {
    }
    __threadfence_block();
    data += 1;
  }
  __syncthreads();
  if (i < a.n && data == 2) {
    a.y[i] = a.x[i];
  }
}
