// tests/zoo/kinds/r02_ticket/atomics.cuh - the last block reads what all added by atomics, FENCE, and took tickets for.
#include "block_sum.cuh"

extern "C" __global__ void clear(const total_args a) {
  if (threadIdx.x < a.B) static_cast<unsigned*>(a.tickets)[threadIdx.x] = 0;
  if (threadIdx.x < a.B) static_cast<float*>(a.partial)[threadIdx.x] = 0;
}

extern "C" __global__ void add(const total_args a) {
  __shared__ float shared[64];
  __shared__ bool last;
  float* partial = static_cast<float*>(a.partial) + blockIdx.y;
  unsigned* ticket = static_cast<unsigned*>(a.tickets) + blockIdx.y;
  float sum = 0;
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < min(a.n, 256LL * (blockIdx.x + 1)); i += 64)
    sum += a.x[blockIdx.y * a.n + i];
  sum = sum_of(sum, shared);
  if (threadIdx.x == 0) {
    atomicAdd(partial, sum);
    FENCE;
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) a.y[blockIdx.y] = *partial;
}
