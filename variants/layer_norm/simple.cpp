// apo:variant    layer_norm/simple
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       Three passes over a row, as anyone would write it first.
#include <cmath>
#include <cstdint>

#include "bf16.h"

void layer_norm(const uint16_t* x, const uint16_t* weight, const uint16_t* bias, uint16_t* y, float* mean, float* rstd,
                float eps, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float sum = 0, squares = 0;
    for (int64_t c = 0; c < cols; ++c) {
      sum += load(x[c]);
    }
    mean[r] = sum / static_cast<float>(cols);
    for (int64_t c = 0; c < cols; ++c) {
      squares += (load(x[c]) - mean[r]) * (load(x[c]) - mean[r]);
    }
    rstd[r] = 1 / std::sqrt(squares / static_cast<float>(cols) + eps);
    for (int64_t c = 0; c < cols; ++c) {
      y[c] = store((load(x[c]) - mean[r]) * rstd[r] * load(weight[c]) + load(bias[c]));
    }
  }
}
