// apo:variant  thresholded/right
// apo:target   host
// apo:idea     The larger of x and 0.
#include <algorithm>
#include <cstdint>

void thresholded(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = std::max(x[i], 0.0f);
}
