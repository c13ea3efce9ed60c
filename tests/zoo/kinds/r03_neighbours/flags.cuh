// tests/zoo/kinds/r03_neighbours/flags.cuh - a block waits for the flag DISTANCE before its own, and does AFTERWARDS.
#include "smooth.args.h"

extern "C" __global__ void clear(const smooth_args a) {
  if (threadIdx.x == 0)
    static_cast<int*>(a.flags)[blockIdx.x] = 0;
}

extern "C" __global__ void smooth(const smooth_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  const long long block = blockIdx.x;
  float* kept = static_cast<float*>(a.kept);
  volatile int* flags = static_cast<volatile int*>(a.flags);
  if (i < a.n)
    kept[i] = a.x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    flags[block] = 1;
    while (block >= DISTANCE && flags[block - DISTANCE] == 0) {
    }
    __threadfence();
    AFTERWARDS
  }
  __syncthreads();
  if (i < a.n)
    a.y[i] = (kept[i == 0 ? 0 : i - 1] + kept[i] + a.x[i == a.n - 1 ? i : i + 1]) / 3;
}
