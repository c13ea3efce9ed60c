// apo:variant  adamw/bug_after_own_write
// apo:target   host
// apo:idea     The first moment is updated from what was just written of it.
#include <cmath>
#include <cstdint>

void adamw(const float* g, float* p, float* m, float* v, float lr, float beta1, float beta2, float eps, float decay,
           int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    m[i] = beta1 * m[i] + (1 - beta1) * g[i];
  for (int64_t i = 0; i < n; ++i) {
    m[i] = beta1 * m[i] + (1 - beta1) * g[i];
    v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
    p[i] -= lr * (m[i] / (std::sqrt(v[i]) + eps) + decay * p[i]);
  }
}
