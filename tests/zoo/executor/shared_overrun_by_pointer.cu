// apo:variant    copy/shared_overrun_by_pointer
// apo:target     cuda sm_80
// apo:idea       A tile has, behind a pointer, one element less than the block has threads that write to it.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence out-of-bounds access, byte 508 of static shared memory
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[127];
  float* to = tile;
  to[threadIdx.x] = i < a.n ? a.x[i] : 0;  // found here
  __syncthreads();
  if (i < a.n) {
    a.y[i] = tile[threadIdx.x];
  }
}
