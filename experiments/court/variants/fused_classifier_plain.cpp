// apo:variant  fused_classifier/plain
#include <algorithm>
#include <cmath>
#include <cstdint>

void fused_classifier(const float* dlosses, const int32_t* targets, float* losses, float* logits, int64_t B, int64_t T,
                      int64_t V, int64_t P) {
  for (int64_t row = 0; row < B * T; ++row, logits += P) {
    const float largest = *std::max_element(logits, logits + V);
    float total = 0;
    for (int64_t v = 0; v < V; ++v)
      total += std::exp(logits[v] - largest);
    losses[row] = std::log(total) - (logits[targets[row]] - largest);
    for (int64_t v = 0; v < V; ++v)
      logits[v] = (std::exp(logits[v] - largest) / total - (v == targets[row] ? 1.0f : 0.0f)) * dlosses[row];
  }
}
