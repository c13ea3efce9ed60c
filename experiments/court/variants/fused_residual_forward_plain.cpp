// apo:variant  fused_residual_forward/plain
#include <cmath>
#include <cstdint>

void fused_residual_forward(const float* inp1, const float* inp2, const float* weight, const float* bias,
                            float* residual, float* normed, float* mean, float* rstd, int64_t N, int64_t C) {
  for (int64_t n = 0; n < N; ++n, inp1 += C, inp2 += C, residual += C, normed += C) {
    float total = 0, squares = 0;
    for (int64_t c = 0; c < C; ++c)
      total += residual[c] = inp1[c] + inp2[c];
    mean[n] = total / static_cast<float>(C);
    for (int64_t c = 0; c < C; ++c)
      squares += (residual[c] - mean[n]) * (residual[c] - mean[n]);
    rstd[n] = 1 / std::sqrt(squares / static_cast<float>(C) + 1e-5f);
    for (int64_t c = 0; c < C; ++c)
      normed[c] = (residual[c] - mean[n]) * rstd[n] * weight[c] + bias[c];
  }
}
