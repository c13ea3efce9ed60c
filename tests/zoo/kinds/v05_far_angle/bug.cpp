// apo:variant  rotated/bug
// apo:target   host
// apo:idea     The angle is a binary32 number: wrong by 0.004 far out.
#include <cmath>
#include <cstdint>

void rotated(const float* x, float* y, int64_t P, int64_t D, int64_t first) {
  for (int64_t p = 0; p < P; ++p) {
    for (int64_t i = 0; i < D / 2; ++i) {
      const float angle = float(first + p) * std::pow(float(10000), float(-2 * i) / float(D));
      const float c = std::cos(angle), s = std::sin(angle);
      const float a = x[p * D + 2 * i], b = x[p * D + 2 * i + 1];
      y[p * D + 2 * i] = a * c - b * s;
      y[p * D + 2 * i + 1] = a * s + b * c;
    }
  }
}
