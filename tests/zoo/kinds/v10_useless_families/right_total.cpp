// apo:variant  total/right_total
// apo:target   host
// apo:idea     A total in binary64.
#include <cstdint>
void total(const float* x, float* y, int64_t n) {
  double t = 0;
  for (int64_t i = 0; i < n; ++i)
    t += x[i];
  y[0] = static_cast<float>(t);
}
