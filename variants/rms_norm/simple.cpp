// apo:variant    rms_norm/simple
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       Two passes over a row, as anyone would write it first.
#include <cmath>
#include <cstdint>

#include "bf16.h"

void rms_norm(const uint16_t* x, const uint16_t* weight, uint16_t* y, float eps, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float squares = 0;
    for (int64_t c = 0; c < cols; ++c) {
      squares += load(x[c]) * load(x[c]);
    }
    const float scale = 1 / std::sqrt(squares / static_cast<float>(cols) + eps);
    for (int64_t c = 0; c < cols; ++c) {
      y[c] = store(load(x[c]) * scale * load(weight[c]));
    }
  }
}
