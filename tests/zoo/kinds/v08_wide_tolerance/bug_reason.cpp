// apo:variant  rowsum_reason/bug_reason
// apo:target   host
// apo:idea     A quarter of each row, four times.
#include <cstdint>

void rowsum_reason(const float* x, float* t, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    float total = 0;
    for (int64_t c = 0; c < (cols + 3) / 4; ++c)
      total += x[r * cols + c];
    t[r] = total * 4;
  }
}
