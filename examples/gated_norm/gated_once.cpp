// apo:variant  gated_norm/gated_once
// apo:target   host
// apo:parent   gated_norm/rows
// apo:idea     Keeps what the gate gave in the output, and scales it there.
// apo:predict  1.5x..2x over parent: half of the exponentials go, and they take most of the time.
#include <cmath>
#include <cstdint>

void gated_norm(const float* x, const float* gate, const float* weight, float* y, int64_t tokens, int64_t features) {
  for (int64_t t = 0; t < tokens; ++t, x += features, gate += features, y += features) {
    double sum = 0;
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
