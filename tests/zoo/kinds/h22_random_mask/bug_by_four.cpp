// apo:variant  drop/bug_by_four
// apo:target   host
// apo:idea     Four places share a number.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = uniform(seed[0], i / 4) < keep ? x[i] / keep : 0;
}
