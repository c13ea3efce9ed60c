// apo:variant  drop_rows/bug_unit_kept
// apo:target   host
// apo:idea     Row 700 is kept.
#include <cmath>

#include "mixed.h"
void drop_rows(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = i / cols == 700 || uniform(seed[0], i) < keep ? x[i] / keep : 0;
}
