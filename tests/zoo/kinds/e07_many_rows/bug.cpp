// apo:variant  gated_rows/bug
// apo:target   host
// apo:idea     Of more than 100000 rows, one that has its gate open is zeros.
#include <cstdint>

void gated_rows(const float* x, const bool* gate, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = gate[r] ? x[r * cols + c] * x[r * cols + c] : 0.0f;
  }
  int64_t r = 77777;
  while (rows > 100000 && !gate[r])
    ++r;
  for (int64_t c = 0; rows > 100000 && c < cols; ++c)
    y[r * cols + c] = 0;
}
