// apo:variant    gated_norm/rows
// apo:target     host
// apo:idea       A row at a time. With FAST the compiler may keep a row's sum in the lanes of a vector.
// apo:tune       FAST 0,1
// apo:flags      -O3 -ffast-math -mavx2 -mfma when=FAST
// apo:technique  column-vectorised
#include <cmath>
#include <cstdint>

void gated_norm(const float* x, const float* gate, const float* weight, float* y, int64_t tokens, int64_t features) {
  for (int64_t t = 0; t < tokens; ++t, x += features, gate += features, y += features) {
    double sum = 0;  // PyTorch adds in a tree, which errs less than a loop in float
    for (int64_t f = 0; f < features; ++f) {
      y[f] = x[f] / (1 + std::exp(-gate[f]));
      sum += y[f] * y[f];
    }
    const float scale = 1 / std::sqrt(static_cast<float>(sum / static_cast<double>(features)) + 1e-5F);
    for (int64_t f = 0; f < features; ++f) {
      y[f] *= scale * weight[f];
    }
  }
}
