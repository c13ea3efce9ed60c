// apo:variant  levelled/bug
// apo:target   host
// apo:idea     One pass: the variance is the mean square less the square of the mean.
#include <algorithm>
#include <cmath>
#include <cstdint>

void levelled(const float* x, float* y, float eps, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float total = 0, squares = 0;
    for (int64_t c = 0; c < cols; ++c) {
      total += x[c];
      squares += x[c] * x[c];
    }
    const float mean = total / cols;
    const float scale = 1 / std::sqrt(std::max(squares / cols - mean * mean, 0.0f) + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = (x[c] - mean) * scale;
  }
}
