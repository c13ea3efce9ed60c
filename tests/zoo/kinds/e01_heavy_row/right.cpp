// apo:variant  ragged_sum/right
// apo:target   host
// apo:idea     One row after the other.
#include <cstdint>

void ragged_sum(const float* x, const int32_t* length, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float total = 0;
    for (int64_t c = 0; c <= length[r]; ++c)
      total += x[r * cols + c];
    y[r] = total;
  }
}
