// apo:variant  unit_rows/right
// apo:target   host
// apo:idea     One row after the other.
#include <bit>
#include <cmath>
#include <cstdint>

static uint16_t rounded(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

void unit_rows(const float* x, uint16_t* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float squares = 0;
    for (int64_t c = 0; c < cols; ++c)
      squares += x[r * cols + c] * x[r * cols + c];
    const float scale = 1 / std::sqrt(squares + 1e-6f);
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = rounded(x[r * cols + c] * scale);
  }
}
