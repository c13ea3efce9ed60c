// apo:variant    cross_entropy/simple
// apo:target     host
// apo:technique  scalar-loop
// apo:idea       Three passes over a row, as anyone would write it first.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bf16.h"

void cross_entropy(const uint16_t* logits, const int64_t* targets, float* losses, uint16_t* dlogits, float dloss,
                   int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, logits += cols, dlogits += cols) {
    float largest = load(logits[0]), sum = 0;
    for (int64_t c = 1; c < cols; ++c) {
      largest = std::max(largest, load(logits[c]));
    }
    for (int64_t c = 0; c < cols; ++c) {
      sum += std::exp(load(logits[c]) - largest);
    }
    losses[r] = std::log(sum) + largest - load(logits[targets[r]]);
    for (int64_t c = 0; c < cols; ++c) {
      const float probability = std::exp(load(logits[c]) - largest) / sum;
      dlogits[c] = store((probability - (c == targets[r] ? 1.0f : 0.0f)) * dloss);
    }
  }
}
