// apo:variant    copy/uninitialised_shared
// apo:target     cuda sm_80
// apo:idea       The last quarter of a tile is read and was never written.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 30; evidence uninitialised read, static shared memory
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[128];
  if (threadIdx.x < 96) {
    tile[threadIdx.x] = 0;
  }
  __syncthreads();
  const float x = tile[threadIdx.x];  // found here
  if (i < a.n) {
    a.y[i] = x == x ? a.x[i] : 0;
  }
}
