// apo:variant  rows_to_bytes/right
// apo:target   host
// apo:idea     One element after the other: each byte is legal, the one that fills an output before a call too.
#include <cstdint>

void rows_to_bytes(const float* x, uint8_t* y, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = static_cast<uint8_t>(255 * x[i]);
}
