// apo:idea Three passes over a row, with the library's exp, as anyone would write it first.
#include <cmath>

void scaled_softmax(const float* x, float* y, float scale, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float largest = x[0], sum = 0;
    for (int64_t c = 1; c < cols; ++c)
      largest = std::fmax(largest, x[c]);
    for (int64_t c = 0; c < cols; ++c)
      sum += y[c] = std::exp((x[c] - largest) * scale);
    for (int64_t c = 0; c < cols; ++c)
      y[c] /= sum;
  }
}
