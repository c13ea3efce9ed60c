// apo:variant  drop_add/bug_other_mask
// apo:target   host
// apo:idea     The mask is drawn again, from other numbers.
#include <bit>

#include "mixed.h"
static float of(uint16_t bf16) {
  return std::bit_cast<float>(static_cast<uint32_t>(bf16) << 16);
}

static bool kept(const int64_t* seed, int64_t i, float keep) {
  return uniform(seed[0] ^ seed[1] << 32, i) < keep;
}

void drop_add(const uint16_t* x, const float* residual, const int64_t* seed, float* y, uint8_t* mask, float keep,
              int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows * cols; ++i) {
    mask[i] = kept(seed, i + 1, keep);
    y[i] = residual[i] + (kept(seed, i, keep) ? of(x[i]) / keep : 0);
  }
}
