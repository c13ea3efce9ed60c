// apo:variant    copy/dynamic_shared_overrun
// apo:target     cuda sm_80
// apo:idea       Declares less dynamic shared memory than it uses.
// apo:launch     kernel grid=ceil_div(n,128) block=128 shared=508
// zoo: expect incorrect; guard executor; evidence out-of-bounds access, the launch declares 508
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  extern __shared__ float tile[];
  tile[threadIdx.x] = i < a.n ? a.x[i] : 0;  // found here
  __syncthreads();
  if (i < a.n) {
    a.y[i] = tile[threadIdx.x];
  }
}
