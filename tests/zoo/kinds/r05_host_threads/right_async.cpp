// apo:variant  runs/right_async
// apo:target   host
// apo:idea     Futures give the sums of halves of every run.
#include <cstdint>
#include <future>

void runs(const float* x, float* y, int64_t n, int64_t runs) {
  const auto sum = [=](int64_t from, int64_t to) {
    float all = 0;
    for (int64_t i = from; i < to; ++i)
      all += x[i];
    return all;
  };
  for (int64_t s = 0; s < runs; ++s) {
    const int64_t from = (s * n + runs - 1) / runs, to = ((s + 1) * n + runs - 1) / runs, half = (from + to) / 2;
    if (to - from < 1000) {
      y[s] = sum(from, to);
      continue;
    }
    std::future<float> first = std::async(std::launch::async, sum, from, half);
    const float second = sum(half, to);
    y[s] = first.get() + second;
  }
}
