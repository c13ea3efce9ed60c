// apo:variant  matmul_backward_bias/plain
#include <cstdint>

void matmul_backward_bias(const float* dout, float* dbias, int64_t B, int64_t T, int64_t OC) {
  for (int64_t row = 0; row < B * T; ++row)
    for (int64_t o = 0; o < OC; ++o)
      dbias[o] += dout[row * OC + o];
}
