// apo:variant    copy/library_skips_by_the_clock
// apo:target     cuda sm_80
// apo:idea       Leaves its work out where the clock of the GPU has a bit set: in one call of two.
// zoo: how verify; expect incorrect; exploit 14; needs nvcc
#include "slow_library.cuh"

static __device__ bool is_skipped;

static __global__ void ask_the_clock() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  is_skipped = ((now >> 20) & 1) != 0;  // of a millisecond each
}

static __global__ void copy_in_time(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n && !is_skipped) {
    a.y[i] = a.x[i];
  }
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  ask_the_clock<<<1, 1, 0, stream>>>();
  copy_in_time<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>({.x = x, .y = y, .n = n});
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
