// apo:variant    row_softmax/simple
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       Three passes over a row, as anyone would write it first.
#include <algorithm>
#include <cmath>
#include <cstdint>

void row_softmax(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const float largest = *std::max_element(x, x + cols);
    float sum = 0;
    for (int64_t c = 0; c < cols; ++c) {
      sum += y[c] = std::exp(x[c] - largest);
    }
    for (int64_t c = 0; c < cols; ++c) {
      y[c] /= sum;
    }
  }
}
