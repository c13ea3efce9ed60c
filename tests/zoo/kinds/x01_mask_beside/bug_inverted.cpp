// apo:variant  drop_add/bug_inverted
// apo:target   host
// apo:idea     The mask says what was dropped.
#include "kept.h"
void drop_add(const uint16_t* x, const float* residual, const int64_t* seed, float* y, uint8_t* mask, float keep,
              int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i) {
    mask[i] = !kept(seed, i, keep);
    y[i] = residual[i] + (mask[i] ? 0 : of(x[i]) / keep);
  }
}
