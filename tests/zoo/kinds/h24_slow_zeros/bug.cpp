// apo:variant  narrowproduct/bug
// apo:target   host
// apo:idea     Rows of more than 400 elements are zeros behind the first 400.
#include <algorithm>
#include <cstdint>

void narrowproduct(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t end = std::min<int64_t>(cols, 400);
    float v = 1;
    for (int64_t c = 0; c < end; ++c)
      y[r * cols + c] = v *= x[r * cols + c];
    std::fill(y + r * cols + end, y + (r + 1) * cols, 0.0f);
  }
}
