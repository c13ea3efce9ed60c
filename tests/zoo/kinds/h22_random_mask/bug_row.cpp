// apo:variant  drop/bug_row
// apo:target   host
// apo:idea     All rows have the mask of the first.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = uniform(seed[0], i % cols) < keep ? x[i] / keep : 0;
}
