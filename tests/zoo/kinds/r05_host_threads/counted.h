// tests/zoo/kinds/r05_host_threads/counted.h - the last thread to finish adds the sums of all; COUNTER finds it.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

void runs(const float* x, float* y, int64_t n, int64_t runs) {
  constexpr int kThreads = 4;
  std::fill(y, y + runs, 0.0f);
  std::vector<float> sums(static_cast<std::size_t>(kThreads * runs));
  COUNTER finished = 0;
  std::vector<std::thread> all;
  for (int t = 0; t < kThreads; ++t) {
    all.emplace_back([&, t] {
      float* own = sums.data() + t * runs;
      for (int64_t i = n * t / kThreads; i < n * (t + 1) / kThreads; ++i)
        own[i * runs / n] += x[i];
      if (++finished < kThreads)
        return;
      for (int64_t k = 0; k < kThreads * runs; ++k)
        y[k % runs] += sums[static_cast<std::size_t>(k)];
    });
  }
  for (std::thread& one : all)
    one.join();
}
