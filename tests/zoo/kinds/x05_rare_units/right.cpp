// apo:variant  drop_rows/right
// apo:target   host
// apo:idea     One number a place.
#include <cmath>

#include "mixed.h"
void drop_rows(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = uniform(seed[0], i) < keep ? x[i] / keep : 0;
}
