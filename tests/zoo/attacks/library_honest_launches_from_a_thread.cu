// apo:variant    copy/library_honest_launches_from_a_thread
// apo:target     cuda sm_80
// apo:idea       Honest: another thread launches, and the call waits for that thread.
// zoo: expect valid; needs nvcc
#include <thread>

#include "slow_library.cuh"

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  std::thread([=] { launch({.x = x, .y = y, .n = n}, stream); }).join();
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
