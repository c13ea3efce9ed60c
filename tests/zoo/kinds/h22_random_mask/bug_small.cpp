// apo:variant  drop/bug_small
// apo:target   host
// apo:idea     Drops the quarter that is nearest to 0.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = std::fabs(x[i]) > 0.3186f ? x[i] / keep : 0;
}
