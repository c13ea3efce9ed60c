// apo:variant  flipped/right
// apo:target   host
// apo:idea     The sign is turned.
#include <cstdint>

void flipped(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = -x[i];
}
