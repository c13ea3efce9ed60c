// apo:variant  drop/bug_more
// apo:target   host
// apo:idea     Keeps 80 % in place of 75 %.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = uniform(seed[0], i) < keep + 0.05f ? x[i] / keep : 0;
}
