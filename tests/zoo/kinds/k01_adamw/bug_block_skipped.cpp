// apo:variant  adamw/bug_block_skipped
// apo:target   host
// apo:idea     One block of many is never touched.
#include <cmath>
#include <cstdint>

void adamw(const float* g, float* p, float* m, float* v, float lr, float beta1, float beta2, float eps, float decay,
           int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (i / 4096 == 17)
      continue;
    m[i] = beta1 * m[i] + (1 - beta1) * g[i];
    v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
    p[i] -= lr * (m[i] / (std::sqrt(v[i]) + eps) + decay * p[i]);
  }
}
