// apo:variant  rowpeak/right_first
// apo:target   host
// apo:idea     The maximum begins at the row's first element.
#include <algorithm>
#include <cmath>
#include <cstdint>

void rowpeak(const float* x, float* p, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float largest = x[r * cols];
    for (int64_t c = 0; c < cols; ++c)
      largest = std::max(largest, x[r * cols + c]);
    p[r] = largest;
  }
}
