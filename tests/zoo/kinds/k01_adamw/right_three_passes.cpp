// apo:variant  adamw/right_three_passes
// apo:target   host
// apo:idea     The moments first, then the parameters from what was written.
#include <cmath>
#include <cstdint>

void adamw(const float* g, float* p, float* m, float* v, float lr, float beta1, float beta2, float eps, float decay,
           int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    m[i] += (1 - beta1) * (g[i] - m[i]);
  for (int64_t i = 0; i < n; ++i)
    v[i] = std::fma(1 - beta2, g[i] * g[i], beta2 * v[i]);
  for (int64_t i = 0; i < n; ++i)
    p[i] = p[i] * (1 - lr * decay) - lr * m[i] / (std::sqrt(v[i]) + eps);
}
