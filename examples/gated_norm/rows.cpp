// apo:variant  gated_norm/rows
// apo:target   host
// apo:idea     Goes over a row twice, and computes the gate both times.
#include <cmath>
#include <cstdint>

static float gated(float x, float gate) {
  return x / (1 + std::exp(-gate));
}

void gated_norm(const float* x, const float* gate, const float* weight, float* y, int64_t tokens, int64_t features) {
  for (int64_t t = 0; t < tokens; ++t, x += features, gate += features, y += features) {
    double sum = 0;  // PyTorch adds in a tree, which errs less than a loop in float
    for (int64_t f = 0; f < features; ++f) {
      sum += gated(x[f], gate[f]) * gated(x[f], gate[f]);
    }
    const float scale = 1 / std::sqrt(static_cast<float>(sum / static_cast<double>(features)) + 1e-5F);
    for (int64_t f = 0; f < features; ++f) {
      y[f] = gated(x[f], gate[f]) * scale * weight[f];
    }
  }
}
