// apo:variant    rms_norm/lanes
// apo:target     host
// apo:technique  column-vectorised
// apo:parent     rms_norm/simple
// apo:idea       Sixteen sums side by side, which the compiler keeps in vector registers.
// apo:predict    1.5x..4x over parent: a sum in one order is a chain of additions that each wait four cycles.
#include <cmath>
#include <cstdint>

#include "bf16.h"

void rms_norm(const uint16_t* __restrict x, const uint16_t* __restrict weight, uint16_t* __restrict y, float eps,
              int64_t rows, int64_t cols) {
  constexpr int kLanes = 16;
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    float sums[kLanes] = {};
    const int64_t whole = cols / kLanes * kLanes;
    for (int64_t c = 0; c < whole; c += kLanes) {
      for (int i = 0; i < kLanes; ++i) {
        sums[i] += load(x[c + i]) * load(x[c + i]);
      }
    }
    float squares = 0;
    for (const float lane : sums) {
      squares += lane;
    }
    for (int64_t c = whole; c < cols; ++c) {
      squares += load(x[c]) * load(x[c]);
    }
    const float scale = 1 / std::sqrt(squares / static_cast<float>(cols) + eps);
    for (int64_t c = 0; c < cols; ++c) {
      y[c] = store(load(x[c]) * scale * load(weight[c]));
    }
  }
}
