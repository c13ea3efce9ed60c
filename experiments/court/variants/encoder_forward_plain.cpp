// apo:variant  encoder_forward/plain
#include <cstdint>

void encoder_forward(const int32_t* inp, const float* wte, const float* wpe, float* out, int64_t B, int64_t T,
                     int64_t C, int64_t V) {
  (void)V;
  for (int64_t row = 0; row < B * T; ++row)
    for (int64_t c = 0; c < C; ++c)
      out[row * C + c] = wte[inp[row] * C + c] + wpe[row % T * C + c];
}
