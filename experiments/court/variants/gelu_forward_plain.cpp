// apo:variant  gelu_forward/plain
#include <cmath>
#include <cstdint>

void gelu_forward(const float* inp, float* out, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    const float x = inp[i];
    out[i] = 0.5f * x * (1 + std::tanh(0.7978845608028654f * (x + 0.044715f * x * x * x)));
  }
}
