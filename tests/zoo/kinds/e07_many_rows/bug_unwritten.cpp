// apo:variant  gated_rows/bug_unwritten
// apo:target   host
// apo:idea     Of more than 100000 rows, row 77777 is never written.
#include <cstdint>

void gated_rows(const float* x, const bool* gate, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    if (rows > 100000 && r == 77777)
      continue;
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = gate[r] ? x[r * cols + c] * x[r * cols + c] : 0.0f;
  }
}
