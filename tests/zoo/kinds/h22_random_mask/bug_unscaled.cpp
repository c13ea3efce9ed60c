// apo:variant  drop/bug_unscaled
// apo:target   host
// apo:idea     What is kept is not scaled.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = uniform(seed[0], i) < keep ? x[i] : 0;
}
