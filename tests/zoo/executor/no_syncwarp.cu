// apo:variant    copy/no_syncwarp
// apo:target     cuda sm_80
// apo:idea       A warp passes values through shared memory as if its lanes ran in step.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence shared-memory race
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[128];
  tile[threadIdx.x] = 0;
  __syncwarp();
  tile[threadIdx.x] = i < a.n ? a.x[i] : 0;
  const float other = tile[threadIdx.x ^ 1];  // found here
  if (i < a.n) {
    a.y[i] = other == other ? a.x[i] : 0;
  }
}
