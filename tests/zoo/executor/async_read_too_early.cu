// apo:variant    copy/async_read_too_early
// apo:target     cuda sm_80
// apo:idea       Reads the destination of an asynchronous copy before it has waited.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence asynchronous copy not waited for, started an asynchronous copy at
#include <cuda_pipeline_primitives.h>

#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[128];
  if (i < a.n) {
    __pipeline_memcpy_async(&tile[threadIdx.x], a.x + i, 4);
    __pipeline_commit();
    a.y[i] = tile[threadIdx.x];  // found here
    __pipeline_wait_prior(0);
  }
}
