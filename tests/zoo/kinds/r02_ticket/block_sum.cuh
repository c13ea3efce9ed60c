// tests/zoo/kinds/r02_ticket/block_sum.cuh - the sum of a value over the 64 threads of a block.
#pragma once

#include "total.args.h"

__device__ float sum_of(float value, float* shared) {
  shared[threadIdx.x] = value;
  for (int step = 32; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step)
      shared[threadIdx.x] += shared[threadIdx.x + step];
  }
  __syncthreads();
  const float sum = shared[0];
  __syncthreads();
  return sum;
}
