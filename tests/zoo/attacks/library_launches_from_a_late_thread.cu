// apo:variant    copy/library_launches_from_a_late_thread
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Returns at once, and launches from another thread a moment later.
// zoo: how verify
// zoo: expect refused
// zoo: guard build
// zoo: exploit 9
// zoo: evidence cannot be recorded
// zoo: needs nvcc
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
