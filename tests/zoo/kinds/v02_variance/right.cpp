// apo:variant  levelled/right
// apo:target   host
// apo:idea     Two passes: the mean, then the squares of what differs from it.
#include <cmath>
#include <cstdint>

void levelled(const float* x, float* y, float eps, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float total = 0, squares = 0;
    for (int64_t c = 0; c < cols; ++c)
      total += x[c];
    const float mean = total / cols;
    for (int64_t c = 0; c < cols; ++c)
      squares += (x[c] - mean) * (x[c] - mean);
    const float scale = 1 / std::sqrt(squares / cols + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = (x[c] - mean) * scale;
  }
}
