// apo:variant    copy/library_honest_sets_up_a_table
// apo:target     cuda sm_80
// apo:idea       Honest: its first call copies a table from the host, which later calls read.
// zoo: expect valid; needs nvcc
#include <vector>

#include "copy.args.h"

static __global__ void copy_scaled(const copy_args a, const float* ones) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = ones[threadIdx.x] * a.x[i];
  }
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  static float* ones = nullptr;
  const std::vector<float> host(256, 1.0f);
  const size_t bytes = sizeof(float) * host.size();
  if (ones == nullptr && (cudaMalloc(&ones, bytes) != cudaSuccess ||
                          cudaMemcpy(ones, host.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess)) {
    return 1;
  }
  copy_scaled<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>({.x = x, .y = y, .n = n}, ones);
  return cudaGetLastError() == cudaSuccess ? 0 : 2;
}
