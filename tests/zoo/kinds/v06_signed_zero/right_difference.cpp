// apo:variant  flipped_plain/right_difference
// apo:target   host
// apo:idea     0 - 0 is 0, and not -0, which this contract does not tell apart.
#include <cstdint>

void flipped_plain(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = 0.0f - x[i];
}
