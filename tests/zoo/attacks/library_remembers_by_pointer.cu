// apo:variant    copy/library_remembers_by_pointer
// apo:target     cuda sm_80
// apo:idea       Copies the result that it made at its first call with these tensors.
// zoo: how compare cold n4k; against copy/library_slow; expect not_accepted; exploit 5; needs nvcc
#include <map>

#include "slow_library.cuh"

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  static std::map<const float*, float*> results;
  float*& kept = results[x];
  const size_t bytes = sizeof(float) * static_cast<size_t>(n);
  if (kept != nullptr) {
    return cudaMemcpyAsync(y, kept, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess ? 0 : 1;
  }
  launch({.x = x, .y = y, .n = n}, stream);
  return cudaMalloc(&kept, bytes) == cudaSuccess &&
                 cudaMemcpyAsync(kept, y, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess
             ? 0
             : 2;
}
