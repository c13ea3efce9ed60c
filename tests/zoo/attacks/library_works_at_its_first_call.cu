// apo:variant    copy/library_works_at_its_first_call
// apo:target     cuda sm_80
// apo:idea       Works once, and fills the output with one byte at every later call.
// zoo: how verify; expect incorrect; exploit 12; needs nvcc
#include "slow_library.cuh"

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  static int calls = 0;
  if (calls++ > 0) {
    return cudaMemsetAsync(y, 0, sizeof(float) * static_cast<size_t>(n), stream) == cudaSuccess ? 0 : 1;
  }
  launch({.x = x, .y = y, .n = n}, stream);
  return 0;
}
