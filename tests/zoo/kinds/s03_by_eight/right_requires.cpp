// apo:variant  squashed/right_requires
// apo:target   host
// apo:idea     Eight columns at a time, and none are left over.
// apo:requires cols % 8 == 0
#include <cmath>
#include <cstdint>

void squashed(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    for (int64_t c = 0; c + 8 <= cols; c += 8)
      for (int64_t i = c; i < c + 8; ++i)
        y[i] = x[i] / (1.0f + std::fabs(x[i]));
  }
}
