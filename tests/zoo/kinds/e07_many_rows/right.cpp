// apo:variant  gated_rows/right
// apo:target   host
// apo:idea     One row after the other; half of them are zeros.
#include <cstdint>

void gated_rows(const float* x, const bool* gate, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = gate[r] ? x[r * cols + c] * x[r * cols + c] : 0.0f;
  }
}
