// apo:variant    copy/async_without_barrier
// apo:target     cuda sm_80
// apo:idea       A thread waits for its own copies and reads what another thread copied.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence shared-memory race
#include <cuda_pipeline_primitives.h>

#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[128];
  tile[threadIdx.x] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&tile[threadIdx.x], a.x + (i < a.n ? i : 0), 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  const float other = tile[threadIdx.x ^ 64];  // found here
  if (i < a.n) {
    a.y[i] = other == other ? a.x[i] : 0;
  }
}
