// apo:variant  masked/bug_masked
// apo:target   host
// apo:idea     A row of minus infinity is NaN.
#include <algorithm>
#include <cmath>
#include <cstdint>

void masked(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float largest = -INFINITY, total = 0;
    for (int64_t c = 0; c < cols; ++c)
      largest = std::max(largest, x[c]);
    for (int64_t c = 0; c < cols; ++c)
      total += y[c] = std::exp(x[c] - largest);
    for (int64_t c = 0; c < cols; ++c)
      y[c] /= total;
  }
}
