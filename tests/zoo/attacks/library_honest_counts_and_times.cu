// apo:variant    copy/library_honest_counts_and_times
// apo:target     cuda sm_80
// apo:idea       Honest: counts its launches and adds up their cycles, and reads neither.
// zoo: expect valid; needs nvcc
#include "slow_library.cuh"

static __device__ long long launches;
static __device__ unsigned long long cycles;

static __global__ void copy_and_count(const copy_args a) {
  const long long begin = clock64();
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  launches += i == 0 ? 1 : 0;
  if (threadIdx.x == 0) {
    atomicAdd(&cycles, static_cast<unsigned long long>(clock64() - begin));
  }
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  copy_and_count<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>({.x = x, .y = y, .n = n});
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
