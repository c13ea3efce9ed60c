// apo:variant  drop_add/bug_all_kept
// apo:target   host
// apo:idea     Nothing is dropped.
#include "kept.h"
void drop_add(const uint16_t* x, const float* residual, const int64_t* seed, float* y, uint8_t* mask, float keep,
              int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i) {
    mask[i] = 1;
    y[i] = residual[i] + of(x[i]) / keep;
  }
}
