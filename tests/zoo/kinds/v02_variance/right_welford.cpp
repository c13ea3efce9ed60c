// apo:variant  levelled/right_welford
// apo:target   host
// apo:idea     Welford's update: mean and squares in one pass.
#include <cmath>
#include <cstdint>

void levelled(const float* x, float* y, float eps, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float mean = 0, squares = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const float apart = x[c] - mean;
      mean += apart / (c + 1);
      squares += apart * (x[c] - mean);
    }
    const float scale = 1 / std::sqrt(squares / cols + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = (x[c] - mean) * scale;
  }
}
