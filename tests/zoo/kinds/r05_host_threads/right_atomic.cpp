// apo:variant  runs/right_atomic
// apo:target   host
// apo:idea     Additions are atomic.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

void runs(const float* x, float* y, int64_t n, int64_t runs) {
  constexpr int kThreads = 4;
  std::fill(y, y + runs, 0.0f);
  std::vector<std::thread> all;
  for (int t = 0; t < kThreads; ++t) {
    all.emplace_back([=] {
      for (int64_t i = n * t / kThreads; i < n * (t + 1) / kThreads; ++i) {
        std::atomic_ref<float>(y[i * runs / n]).fetch_add(x[i], std::memory_order_relaxed);
      }
    });
  }
  for (std::thread& one : all)
    one.join();
}
