// tests/zoo/kinds/r01_column_sums/told.cuh - a block clears columns and tells the others; CLEARED waits for its lanes.
#include "colsum.args.h"

extern "C" __global__ void lower(const colsum_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < (a.cols + 31) / 32)
    static_cast<int*>(a.cleared)[i] = 0;
}

extern "C" __global__ void add(const colsum_args a) {
  const long long c = 32LL * blockIdx.x + threadIdx.x;
  volatile int* flag = static_cast<int*>(a.cleared) + blockIdx.x;
  if (blockIdx.y == 0) {
    if (c < a.cols)
      a.y[c] = 0;
    CLEARED;
    __threadfence();
    if (threadIdx.x == 0)
      *flag = 1;
  } else if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  if (c >= a.cols)
    return;
  float sum = 0;
  for (long long r = 64LL * blockIdx.y; r < min(a.rows, 64LL * (blockIdx.y + 1)); ++r)
    sum += a.x[r * a.cols + c];
  atomicAdd(&a.y[c], sum);
}
