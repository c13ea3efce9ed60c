// apo:variant  tapped/right
// apo:target   host
// apo:idea     Any number of taps.
#include <cstdint>

void tapped(const float* x, const float* w, float* y, int64_t T, int64_t K) {
  for (int64_t t = 0; t < T; ++t) {
    float total = 0;
    for (int64_t k = 0; k < K; ++k)
      total += w[k] * x[t + k];
    y[t] = total;
  }
}
