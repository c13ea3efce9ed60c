// apo:variant  drop/bug_all_kept
// apo:target   host
// apo:idea     Everything is kept.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = x[i] / keep;
}
