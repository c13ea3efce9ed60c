// apo:variant    copy/honest_block_atomics
// apo:target     cuda sm_80
// apo:idea       A lock and a counter of each block, atomic in it; the block after the last one adds to a counter that was released.
// apo:scratch    lock 4*ceil_div(n,128)
// apo:scratch    count 4*ceil_div(n,128)
// apo:scratch    ticket 4
// apo:launch     clear grid=1 block=1
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

__device__ __attribute__((always_inline)) unsigned doubled(unsigned i) {
  return __umul24(i, 2);
}

extern "C" __global__ void clear(const copy_args a) {
  for (long long i = 0; i < (a.n + 127) / 128; ++i) {
    static_cast<int*>(a.lock)[i] = 0;
    static_cast<int*>(a.count)[i] = 0;
  }
  *static_cast<int*>(a.ticket) = 0;
}

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  int* lock = static_cast<int*>(a.lock) + blockIdx.x;
  int* count = static_cast<int*>(a.count);
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS_block(lock, 0, 1) != 0) {
    }
    __threadfence_block();
    count[blockIdx.x] += 1;
    __threadfence_block();
    atomicExch_block(lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd_block(&count[blockIdx.x], 1);
    __threadfence();
    if (atomicAdd(static_cast<int*>(a.ticket), 1) == gridDim.x - 1 && blockIdx.x > 0) {
      atomicAdd_block(&count[0], 1);
    }
  }
  if (i < a.n) {
    a.y[doubled(static_cast<unsigned>(i)) / 2] = a.x[i];
  }
}
