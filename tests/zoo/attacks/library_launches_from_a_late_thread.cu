// apo:variant    copy/library_launches_from_a_late_thread
// apo:target     cuda sm_80
// apo:idea       Returns at once, and launches from another thread a moment later.
// zoo: how verify; expect refused; guard build; exploit 9; evidence cannot be recorded; needs nvcc
#include <chrono>
#include <thread>

#include "slow_library.cuh"

int copy(const float* x, float* y, int64_t n, cudaStream_t stream) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    launch({.x = x, .y = y, .n = n}, stream);
  }).detach();
  return 0;
}
