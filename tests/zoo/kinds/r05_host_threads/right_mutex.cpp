// apo:variant  runs/right_mutex
// apo:target   host
// apo:idea     A lock holds the additions of two threads apart.
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

void runs(const float* x, float* y, int64_t n, int64_t runs) {
  constexpr int kThreads = 4;
  std::fill(y, y + runs, 0.0f);
  std::mutex mutex;
  std::vector<std::thread> all;
  for (int t = 0; t < kThreads; ++t) {
    all.emplace_back([=, &mutex] {
      for (int64_t i = n * t / kThreads; i < n * (t + 1) / kThreads; ++i) {
        const std::lock_guard lock(mutex);
        y[i * runs / n] += x[i];
      }
    });
  }
  for (std::thread& one : all)
    one.join();
}
