// apo:variant    copy/async_waits_for_wrong_group
// apo:target     cuda sm_80
// apo:idea       Two groups of copies are under way, and the wait leaves the one that is read.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence asynchronous copy not waited for
#include <cuda_pipeline_primitives.h>

#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tiles[2][128];
  if (i < a.n) {
    __pipeline_memcpy_async(&tiles[0][threadIdx.x], a.x + i, 4);
    __pipeline_commit();
    __pipeline_memcpy_async(&tiles[1][threadIdx.x], a.x + i, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    a.y[i] = tiles[1][threadIdx.x];  // found here
  }
}
