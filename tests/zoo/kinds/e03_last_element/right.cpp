// apo:variant  rows_cumsum/right
// apo:target   host
// apo:idea     One row after the other.
#include <cstdint>

void rows_cumsum(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float total = 0;
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = total += x[r * cols + c];
  }
}
