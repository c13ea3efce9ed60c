// apo:variant    copy/library_keeps_trying
// apo:target     cuda sm_80
// apo:idea       Tries another size of its blocks in every call, and never chooses: what is judged would be a matter of luck.
// zoo: how verify; expect refused; guard build; exploit 14
// zoo: evidence cannot be recorded, no two of its calls launch the same; needs nvcc
#include "copy.args.h"

static __global__ void copy_elements(const copy_args a) {
  const long long i = static_cast<long long>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  static unsigned block = 32;
  block = block == 1024 ? 32 : block + 32;
  copy_elements<<<static_cast<unsigned>((n + block - 1) / block), block, 0, stream>>>({.x = x, .y = y, .n = n});
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
