// apo:variant  drop_add/bug_last_mask
// apo:target   host
// apo:idea     The mask of the last element says kept in each row.
#include "kept.h"
void drop_add(const uint16_t* x, const float* residual, const int64_t* seed, float* y, uint8_t* mask, float keep,
              int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i) {
    mask[i] = kept(seed, i, keep);
    y[i] = residual[i] + (mask[i] ? of(x[i]) / keep : 0);
    mask[i] |= i % cols == cols - 1;
  }
}
