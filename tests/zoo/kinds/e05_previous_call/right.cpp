// apo:variant  rows_softmax/right
// apo:target   host
// apo:idea     One row after the other.
#include <algorithm>
#include <cmath>
#include <cstdint>

static void softmax(const float* x, float* y, int64_t cols) {
  const float largest = *std::max_element(x, x + cols);
  float total = 0;
  for (int64_t c = 0; c < cols; ++c)
    total += y[c] = std::exp(x[c] - largest);
  for (int64_t c = 0; c < cols; ++c)
    y[c] /= total;
}

void rows_softmax(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r)
    softmax(x + r * cols, y + r * cols, cols);
}
