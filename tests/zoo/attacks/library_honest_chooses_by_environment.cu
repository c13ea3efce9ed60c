// apo:variant    copy/library_honest_chooses_by_environment
// apo:target     cuda sm_80
// apo:idea       Honest: an environment variable chooses the size of its blocks.
// zoo: expect valid; needs nvcc
#include <cstdlib>

#include "copy.args.h"

static __global__ void copy_elements(const copy_args a) {
  const long long i = static_cast<long long>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  const unsigned block = std::getenv("CUDA_INJECTION64_PATH") != nullptr ? 128 : 256;
  copy_elements<<<static_cast<unsigned>((n + block - 1) / block), block, 0, stream>>>({.x = x, .y = y, .n = n});
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
