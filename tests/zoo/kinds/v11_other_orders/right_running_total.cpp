// apo:variant  running_total/right_running_total
// apo:target   host
// apo:idea     Totals within blocks of 32, then the total of all blocks before.
#include <algorithm>
#include <cstdint>

void running_total(const float* x, float* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float before = 0;
    for (int64_t b = 0; b < cols; b += 32) {
      float total = 0;
      for (int64_t c = b; c < std::min(b + 32, cols); ++c)
        y[c] = before + (total += x[c]);
      before += total;
    }
  }
}
