// apo:variant  grouped/right
// apo:target   host
// apo:idea     H / G heads share one.
#include <algorithm>
#include <cstdint>

void grouped(const float* q, const float* k, float* y, int64_t H, int64_t G, int64_t T, int64_t D) {
  for (int64_t h = 0; h < H; ++h) {
    const float* of_group = k + std::min(h / (H / G), G - 1) * T * D;
    for (int64_t e = 0; e < T * D; ++e)
      y[h * T * D + e] = q[h * T * D + e] * of_group[e];
  }
}
