// apo:variant  rows_cumsum/bug_short
// apo:target   host
// apo:idea     The last element of a row in the middle of more than 400 lacks one term.
#include <cstdint>

void rows_cumsum(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float total = 0;
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = total += x[r * cols + c];
    if (rows > 400 && r == rows / 2 && cols > 1)
      y[(r + 1) * cols - 1] -= x[(r + 1) * cols - 2];
  }
}
