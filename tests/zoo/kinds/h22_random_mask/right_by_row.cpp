// apo:variant  drop/right_by_row
// apo:target   host
// apo:idea     A generator a row, and a multiplication.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  const float scale = 1 / keep;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      y[r * cols + c] = uniform(seed[0] ^ (r + 1) << 32, c) < keep ? x[r * cols + c] * scale : 0;
}
