// tests/zoo/kinds/r02_ticket/ticket.cuh - blocks add parts, and the last one adds their sums. PUBLISH leaves a block's sum in `partial`,
// takes its ticket and sets `last`; PARTIAL is the type of a partial sum. TICKETS are those of all batches: a buffer, which `clear` resets,
// or a variable of the file, for which FINISH is what the last block does with `ticket`.
#include "block_sum.cuh"

#ifndef PUBLISH
#define PUBLISH \
  if (threadIdx.x == 0) { \
    partial[blockIdx.x] = sum; \
    __threadfence(); \
    last = atomicAdd(ticket, 1u) == gridDim.x - 1; \
  }
#endif
#ifndef PARTIAL
#define PARTIAL float
#endif
#ifndef FINISH
#define FINISH
#endif

#ifndef TICKETS
#define TICKETS static_cast<unsigned*>(a.tickets)
extern "C" __global__ void clear(const total_args a) {
  if (threadIdx.x < a.B)
    TICKETS[threadIdx.x] = 0;
}
#endif

extern "C" __global__ void add(const total_args a) {
  __shared__ float shared[64];
  __shared__ bool last;
  PARTIAL* partial = static_cast<float*>(a.partial) + blockIdx.y * gridDim.x;
  unsigned* ticket = TICKETS + blockIdx.y;
  float sum = 0;
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < min(a.n, 256LL * (blockIdx.x + 1)); i += 64)
    sum += a.x[blockIdx.y * a.n + i];
  sum = sum_of(sum, shared);
  PUBLISH
  __syncthreads();
  if (!last)
    return;
  sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += 64)
    sum += partial[i];
  sum = sum_of(sum, shared);
  if (threadIdx.x == 0) {
    a.y[blockIdx.y] = sum;
    FINISH
  }
}
