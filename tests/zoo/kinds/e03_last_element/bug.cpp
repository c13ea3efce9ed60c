// apo:variant  rows_cumsum/bug
// apo:target   host
// apo:idea     The last element of a row in the middle of more than 400 is never written.
#include <cstdint>

void rows_cumsum(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t end = rows > 400 && r == rows / 2 ? cols - 1 : cols;
    float total = 0;
    for (int64_t c = 0; c < end; ++c)
      y[r * cols + c] = total += x[r * cols + c];
  }
}
