// apo:variant    copy/library_works_for_the_call_before
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Works on the tensors of the call before, in the time of the next one.
// zoo: how verify
// zoo: expect refused
// zoo: guard build
// zoo: exploit 9
// zoo: evidence cannot be recorded, between the tensors
// zoo: needs nvcc
#include "slow_library.cuh"

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  static copy_args before = {};
  if (before.x != nullptr && before.n == n) {
    launch(before, stream);
  }
  before = {.x = x, .y = y, .n = n};
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
