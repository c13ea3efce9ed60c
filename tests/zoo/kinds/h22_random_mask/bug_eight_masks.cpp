// apo:variant  drop/bug_eight_masks
// apo:target   host
// apo:idea     Three bits of the seed are used.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = uniform(seed[0] & 7, i) < keep ? x[i] / keep : 0;
}
