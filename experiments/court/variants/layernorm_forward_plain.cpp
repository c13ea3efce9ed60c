// apo:variant  layernorm_forward/plain
#include <cmath>
#include <cstdint>

void layernorm_forward(const float* inp, const float* weight, const float* bias, float* out, float* mean, float* rstd,
                       int64_t B, int64_t T, int64_t C) {
  for (int64_t row = 0; row < B * T; ++row) {
    const float* x = inp + row * C;
    float total = 0, squares = 0;
    for (int64_t c = 0; c < C; ++c)
      total += x[c];
    const float m = total / static_cast<float>(C);
    for (int64_t c = 0; c < C; ++c)
      squares += (x[c] - m) * (x[c] - m);
    const float s = 1 / std::sqrt(squares / static_cast<float>(C) + 1e-5f);
    for (int64_t c = 0; c < C; ++c)
      out[row * C + c] = (x[c] - m) * s * weight[c] + bias[c];
    mean[row] = m;
    rstd[row] = s;
  }
}
