// apo:variant  rows_softmax/bug
// apo:target   host
// apo:idea     Row 40 of more than 400 is the one that the first call of this size computed.
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
  for (int64_t r = 0; r < rows; ++r)
    softmax(x + r * cols, y + r * cols, cols);
  if (rows > 400 && kept.size() != static_cast<size_t>(cols))
    kept.assign(y + 40 * cols, y + 41 * cols);
  if (rows > 400)
    std::copy(kept.begin(), kept.end(), y + 40 * cols);
}
