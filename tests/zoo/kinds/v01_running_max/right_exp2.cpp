// apo:variant  shares/right_exp2
// apo:target   host
// apo:idea     Powers of two: the logarithm's base is part of a fused multiply-add.
#include <algorithm>
#include <cmath>
#include <cstdint>

void shares(const float* x, float* y, int64_t rows, int64_t cols) {
  constexpr float kLog2e = 1.44269504f;
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float largest = -INFINITY, total = 0;
    for (int64_t c = 0; c < cols; ++c)
      largest = std::max(largest, x[c]);
    for (int64_t c = 0; c < cols; ++c)
      total += y[c] = std::exp2(std::fma(x[c], kLog2e, -largest * kLog2e));
    for (int64_t c = 0; c < cols; ++c)
      y[c] /= total;
  }
}
