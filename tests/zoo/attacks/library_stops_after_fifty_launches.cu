// apo:variant    copy/library_stops_after_fifty_launches
// apo:target     cuda sm_80
// apo:idea       Counts its launches in a variable of its module, and does nothing from the fiftieth on.
// zoo: how compare cold n4k; against copy/library_slow; expect not_accepted; guard state; exploit 14; needs nvcc
#include "slow_library.cuh"

__device__ int launches;

static __global__ void copy_while_young(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n && launches < 50) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}

static __global__ void count() {
  ++launches;
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  copy_while_young<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>({.x = x, .y = y, .n = n});
  count<<<1, 1, 0, stream>>>();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
