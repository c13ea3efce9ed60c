// apo:variant    copy/one_barrier_too_few
// apo:target     cuda sm_80
// apo:idea       A tile is filled again while slower threads still read it.
// apo:launch     kernel grid=1 block=128
// zoo: expect incorrect; guard executor; evidence shared-memory race
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  __shared__ float tile[128];
  for (long long first = 0; first < a.n; first += 128) {
    const long long i = first + 127 - threadIdx.x;
    tile[threadIdx.x] = first + threadIdx.x < a.n ? a.x[first + threadIdx.x] : 0;  // found here
    __syncthreads();
    if (i < a.n) {
      a.y[i] = tile[127 - threadIdx.x];
    }
  }
}
