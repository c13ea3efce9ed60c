// apo:variant  runs/bug_boundary
// apo:target   host
// apo:idea     Threads share the runs that lie across their boundaries, without a lock.
#include <algorithm>
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
        y[i * runs / n] += x[i];
      }
    });
  }
  for (std::thread& one : all)
    one.join();
}
