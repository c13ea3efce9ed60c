// apo:variant  tapped/right_requires
// apo:target   host
// apo:idea     Room for four taps.
// apo:requires K <= 4
#include <algorithm>
#include <cstdint>

void tapped(const float* x, const float* w, float* y, int64_t T, int64_t K) {
  float taps[4] = {};
  std::copy(w, w + std::min<int64_t>(K, 4), taps);
  for (int64_t t = 0; t < T; ++t) {
    float total = 0;
    for (int64_t k = 0; k < std::min<int64_t>(K, 4); ++k)
      total += taps[k] * x[t + k];
    y[t] = total;
  }
}
