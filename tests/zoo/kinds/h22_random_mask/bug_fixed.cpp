// apo:variant  drop/bug_fixed
// apo:target   host
// apo:idea     One mask, whatever the seed.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = uniform(12345, i) < keep ? x[i] / keep : 0;
}
