// apo:variant    copy/library_works_for_the_call_before
// apo:target     cuda sm_80
// apo:idea       Works on the tensors of the call before, in the time of the next one.
// zoo: how verify; expect refused; guard build; exploit 9; evidence cannot be recorded, between the tensors; needs nvcc
#include "slow_library.cuh"

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  static copy_args before = {};
  if (before.x != nullptr && before.n == n) {
    launch(before, stream);
  }
  before = {.x = x, .y = y, .n = n};
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
