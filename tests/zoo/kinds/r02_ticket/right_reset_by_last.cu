// apo:variant  total/right_reset_by_last
// apo:target   cuda sm_80
// apo:idea     The tickets are variables of the file; the last block resets its own for the next call.
// apo:scratch  partial 4*B*ceil_div(n,256)
// apo:launch   add grid=ceil_div(n,256),B block=64
#include "block_sum.cuh"

__device__ unsigned tickets[64];

extern "C" __global__ void add(const total_args a) {
  __shared__ float shared[64];
  __shared__ bool last;
  float* partial = static_cast<float*>(a.partial) + blockIdx.y * gridDim.x;
  float sum = 0;
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < min(a.n, 256LL * (blockIdx.x + 1)); i += 64)
    sum += a.x[blockIdx.y * a.n + i];
  sum = sum_of(sum, shared);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&tickets[blockIdx.y], 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last)
    return;
  sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += 64)
    sum += partial[i];
  sum = sum_of(sum, shared);
  if (threadIdx.x == 0) {
    a.y[blockIdx.y] = sum;
    tickets[blockIdx.y] = 0;
  }
}
