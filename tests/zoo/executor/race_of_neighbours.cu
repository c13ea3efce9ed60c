// apo:variant    copy/race_of_neighbours
// apo:target     cuda sm_80
// apo:idea       A thread reads what its neighbour writes between the same two barriers.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 31; evidence shared-memory race, with no barrier between
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[129];
  tile[threadIdx.x] = 0;
  tile[128] = 0;
  __syncthreads();
  tile[threadIdx.x] = i < a.n ? a.x[i] : 0;
  const float next = tile[threadIdx.x + 1];  // found here
  __syncthreads();
  if (i < a.n) {
    a.y[i] = next == next ? tile[threadIdx.x] : 0;
  }
}
