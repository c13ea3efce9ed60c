// apo:variant  rotated/right
// apo:target   host
// apo:idea     The angle is a double.
#include <cmath>
#include <cstdint>

void rotated(const float* x, float* y, int64_t P, int64_t D, int64_t first) {
  for (int64_t p = 0; p < P; ++p) {
    for (int64_t i = 0; i < D / 2; ++i) {
      const double angle = double(first + p) * std::pow(double(10000), double(-2 * i) / double(D));
      const float c = std::cos(angle), s = std::sin(angle);
      const float a = x[p * D + 2 * i], b = x[p * D + 2 * i + 1];
      y[p * D + 2 * i] = a * c - b * s;
      y[p * D + 2 * i + 1] = a * s + b * c;
    }
  }
}
