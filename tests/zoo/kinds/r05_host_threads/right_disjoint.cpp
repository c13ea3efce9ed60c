// apo:variant  runs/right_disjoint
// apo:target   host
// apo:idea     A thread has whole runs.
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
      for (int64_t s = runs * t / kThreads; s < runs * (t + 1) / kThreads; ++s) {
        for (int64_t i = (s * n + runs - 1) / runs; i < ((s + 1) * n + runs - 1) / runs; ++i)
          y[s] += x[i];
      }
    });
  }
  for (std::thread& one : all)
    one.join();
}
