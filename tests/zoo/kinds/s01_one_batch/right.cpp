// apo:variant  gated/right
// apo:target   host
// apo:idea     A gate for each sample.
#include <cstdint>

void gated(const float* x, const float* g, float* y, int64_t B, int64_t T, int64_t C) {
  for (int64_t row = 0; row < B * T; ++row)
    for (int64_t c = 0; c < C; ++c)
      y[row * C + c] = x[row * C + c] * g[row / T * C + c];
}
