// apo:variant  thresholded/bug
// apo:target   host
// apo:idea     Up to 6 alone, as another operation of this kind.
#include <algorithm>
#include <cstdint>

void thresholded(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = std::clamp(x[i], 0.0f, 6.0f);
}
