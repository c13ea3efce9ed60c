// apo:variant  rowsum_reason/right_reason
// apo:target   host
// apo:idea     One after the other, in binary64: 1e-3 is less than binary32 leaves of a long row.
#include <cstdint>

void rowsum_reason(const float* x, float* t, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    double total = 0;
    for (int64_t c = 0; c < cols; ++c)
      total += x[r * cols + c];
    t[r] = static_cast<float>(total);
  }
}
