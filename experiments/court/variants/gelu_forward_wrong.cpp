// apo:variant  gelu_forward/wrong
// apo:idea     Four elements at a time, and the rest is forgotten.
#include <cmath>
#include <cstdint>

void gelu_forward(const float* inp, float* out, int64_t N) {
  for (int64_t i = 0; i + 4 <= N; i += 4) {
    for (int64_t k = i; k < i + 4; ++k) {
      const float x = inp[k];
      out[k] = 0.5f * x * (1 + std::tanh(0.7978845608028654f * (x + 0.044715f * x * x * x)));
    }
  }
}
