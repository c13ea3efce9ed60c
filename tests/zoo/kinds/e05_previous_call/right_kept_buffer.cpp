// apo:variant  rows_softmax/right_kept_buffer
// apo:target   host
// apo:idea     Row 40 goes through a buffer that is kept between calls and computed in each.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

static void softmax(const float* x, float* y, int64_t cols) {
  const float largest = *std::max_element(x, x + cols);
  float total = 0;
  for (int64_t c = 0; c < cols; ++c)
    total += y[c] = std::exp(x[c] - largest);
  for (int64_t c = 0; c < cols; ++c)
    y[c] /= total;
}

void rows_softmax(const float* x, float* y, int64_t rows, int64_t cols) {
  static std::vector<float> kept;
  kept.resize(static_cast<size_t>(cols));
  for (int64_t r = 0; r < rows; ++r)
    softmax(x + r * cols, y + r * cols, cols);
  if (rows > 40) {
    softmax(x + 40 * cols, kept.data(), cols);
    std::copy(kept.begin(), kept.end(), y + 40 * cols);
  }
}
