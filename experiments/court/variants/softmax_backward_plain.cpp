// apo:variant  softmax_backward/plain
#include <cstdint>

void softmax_backward(const float* dout, const float* out, float* dinp, int64_t N, int64_t C) {
  for (int64_t n = 0; n < N; ++n, dout += C, out += C, dinp += C) {
    float total = 0;
    for (int64_t c = 0; c < C; ++c)
      total += dout[c] * out[c];
    for (int64_t c = 0; c < C; ++c)
      dinp[c] = out[c] * (dout[c] - total);
  }
}
