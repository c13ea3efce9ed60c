// apo:variant  rows_to_bytes/bug
// apo:target   host
// apo:idea     Row 45 of more than 400 is never written.
#include <cstdint>

void rows_to_bytes(const float* x, uint8_t* y, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i) {
    if (rows <= 400 || i / cols != 45)
      y[i] = static_cast<uint8_t>(255 * x[i]);
  }
}
