// apo:variant  drop/bug_counts
// apo:target   host
// apo:idea     The mask depends on how many calls there were.
#include <cmath>

#include "mixed.h"
void drop(const float* x, const int64_t* seed, float* y, float keep, int64_t rows, int64_t cols) {
  static int64_t calls = 0;
  ++calls;
  for (int64_t i = 0; i < rows * cols; ++i)
    y[i] = uniform(seed[0] + calls, i) < keep ? x[i] / keep : 0;
}
