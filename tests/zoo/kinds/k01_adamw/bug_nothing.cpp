// apo:variant  adamw/bug_nothing
// apo:target   host
// apo:idea     Nothing is done: the step is small against what stands there.
#include <cmath>
#include <cstdint>

void adamw(const float* g, float* p, float* m, float* v, float lr, float beta1, float beta2, float eps, float decay,
           int64_t n) {
  (void)g, (void)p, (void)m, (void)v, (void)lr, (void)beta1, (void)beta2, (void)eps, (void)decay, (void)n;
}
