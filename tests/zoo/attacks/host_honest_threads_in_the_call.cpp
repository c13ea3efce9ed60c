// apo:variant    copy/host_honest_threads_in_the_call
// apo:target     host
// apo:idea       Honest: threads of the call copy a part each, and have ended when it returns.
// zoo: how compare warm n4k; against copy/host_slow; expect faster
#include <cstring>
#include <thread>
#include <vector>

#include "copy.args.h"

void copy(const float* x, float* y, int64_t n, int threads) {
  const int64_t part = (n + threads - 1) / threads;
  std::vector<std::thread> others;
  const auto copy_part = [=](int64_t begin) {
    const int64_t count = n - begin < part ? n - begin : part;
    if (count > 0) {
      std::memcpy(y + begin, x + begin, sizeof(float) * static_cast<size_t>(count));
    }
  };
  for (int64_t begin = part; begin < n; begin += part) {
    others.emplace_back(copy_part, begin);
  }
  copy_part(0);
  for (std::thread& other : others) {
    other.join();
  }
}
