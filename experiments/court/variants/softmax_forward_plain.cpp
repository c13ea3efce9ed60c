// apo:variant  softmax_forward/plain
#include <algorithm>
#include <cmath>
#include <cstdint>

void softmax_forward(const float* inp, float* out, int64_t N, int64_t C) {
  for (int64_t n = 0; n < N; ++n, inp += C, out += C) {
    const float largest = *std::max_element(inp, inp + C);
    float total = 0;
    for (int64_t c = 0; c < C; ++c)
      total += out[c] = std::exp(inp[c] - largest);
    for (int64_t c = 0; c < C; ++c)
      out[c] /= total;
  }
}
