// apo:variant  total/bug_total
// apo:target   host
// apo:idea     The last element is left out.
#include <cstdint>
void total(const float* x, float* y, int64_t n) {
  double t = 0;
  for (int64_t i = 0; i < n - 1; ++i)
    t += x[i];
  y[0] = static_cast<float>(t);
}
