// apo:variant  runs/bug_not_joined_in_time
// apo:target   host
// apo:idea     Own sums of the threads are added before all threads have ended.
#include <algorithm>
#include <array>
#include <cstdint>
#include <thread>
#include <vector>

void runs(const float* x, float* y, int64_t n, int64_t runs) {
  constexpr int kThreads = 4;
  std::fill(y, y + runs, 0.0f);
  std::vector<float> sums(static_cast<std::size_t>(kThreads * runs));
  std::vector<std::thread> all;
  for (int t = 0; t < kThreads; ++t) {
    all.emplace_back([=, &sums] {
      for (int64_t i = n * t / kThreads; i < n * (t + 1) / kThreads; ++i) {
        sums[static_cast<std::size_t>(t * runs + i * runs / n)] += x[i];
      }
    });
  }
  for (int t = 0; t < kThreads; ++t) {
    for (int64_t s = 0; s < runs; ++s)
      y[s] += sums[static_cast<std::size_t>(t * runs + s)];
    all[static_cast<std::size_t>(t)].join();
  }
}
