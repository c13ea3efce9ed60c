// apo:variant  softmax_forward/wrong
// apo:idea     No maximum is taken off: large inputs overflow.
#include <cmath>
#include <cstdint>

void softmax_forward(const float* inp, float* out, int64_t N, int64_t C) {
  for (int64_t n = 0; n < N; ++n, inp += C, out += C) {
    float total = 0;
    for (int64_t c = 0; c < C; ++c)
      total += out[c] = std::exp(inp[c]);
    for (int64_t c = 0; c < C; ++c)
      out[c] /= total;
  }
}
