// apo:variant  rowsum/right
// apo:target   host
// apo:idea     One after the other.
#include <cstdint>

void rowsum(const float* x, float* t, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float total = 0;
    for (int64_t c = 0; c < cols; ++c)
      total += x[r * cols + c];
    t[r] = total;
  }
}
