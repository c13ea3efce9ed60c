// apo:variant  rows_cumsum/right_backwards
// apo:target   host
// apo:idea     The last row first, and the last element of each written twice.
#include <cstdint>

void rows_cumsum(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = rows; r-- > 0;) {
    y[(r + 1) * cols - 1] = 0;
    float total = 0;
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = total += x[r * cols + c];
  }
}
