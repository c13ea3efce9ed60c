// apo:variant  adamw/bug_moment_kept
// apo:target   host
// apo:idea     The second moment is used, but never stored.
#include <cmath>
#include <cstdint>

void adamw(const float* g, float* p, float* m, float* v, float lr, float beta1, float beta2, float eps, float decay,
           int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    m[i] = beta1 * m[i] + (1 - beta1) * g[i];
    const float second = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
    p[i] -= lr * (m[i] / (std::sqrt(second) + eps) + decay * p[i]);
  }
}
