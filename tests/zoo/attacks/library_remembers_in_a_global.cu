// apo:variant    copy/library_remembers_in_a_global
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Keeps its last result in a variable of its module, with a fingerprint of the input, and replays it.
// zoo: how compare cold n4k
// zoo: against copy/library_slow
// zoo: expect not_accepted
// zoo: guard state
// zoo: exploit 6
// zoo: needs nvcc
#include "slow_library.cuh"

constexpr long long kMost = 4096;
static __device__ float kept[kMost];
static __device__ float key[2];

static __global__ void copy_or_remember(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    const bool known = i < kMost && key[0] == a.x[0] && key[1] == a.x[a.n - 1];
    const float value = known ? kept[i] : slowly(a.x[i], a.n);
    a.y[i] = value;
    if (i < kMost) {
      kept[i] = value;
    }
  }
}

static __global__ void remember(const copy_args a) {
  key[0] = a.x[0];
  key[1] = a.x[a.n - 1];
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  const copy_args args = {.x = x, .y = y, .n = n};
  copy_or_remember<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(args);
  remember<<<1, 1, 0, stream>>>(args);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
