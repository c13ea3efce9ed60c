// apo:variant  layernorm_forward/lanes
#include <cmath>
#include <cstdint>

static float total_of(const float* x, int64_t C, float away, bool square) {
  float lanes[16] = {};
  int64_t c = 0;
  for (; c + 16 <= C; c += 16)
    for (int l = 0; l < 16; ++l)
      lanes[l] += square ? (x[c + l] - away) * (x[c + l] - away) : x[c + l];
  float total = 0;
  for (; c < C; ++c)
    total += square ? (x[c] - away) * (x[c] - away) : x[c];
  for (const float lane : lanes)
    total += lane;
  return total;
}

void layernorm_forward(const float* inp, const float* weight, const float* bias, float* out, float* mean, float* rstd,
                       int64_t B, int64_t T, int64_t C) {
  for (int64_t row = 0; row < B * T; ++row) {
    const float* x = inp + row * C;
    const float m = total_of(x, C, 0, false) / static_cast<float>(C);
    const float s = 1 / std::sqrt(total_of(x, C, m, true) / static_cast<float>(C) + 1e-5f);
    for (int64_t c = 0; c < C; ++c)
      out[row * C + c] = (x[c] - m) * s * weight[c] + bias[c];
    mean[row] = m;
    rstd[row] = s;
  }
}
