// apo:variant  shares/bug_shares_zero
// apo:target   host
// apo:idea     Maximum and sum in one pass; the maximum begins at 0.
#include <algorithm>
#include <cmath>
#include <cstdint>

void shares(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float largest = 0.0f, total = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const float before = largest;
      largest = std::max(largest, x[c]);
      total = total * std::exp(before - largest) + std::exp(x[c] - largest);
    }
    for (int64_t c = 0; c < cols; ++c)
      y[c] = std::exp(x[c] - largest) / total;
  }
}
