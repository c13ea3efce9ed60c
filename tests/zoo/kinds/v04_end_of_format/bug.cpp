// apo:variant  widened/bug
// apo:target   host
// apo:idea     Decoded as if the format ended at 240, where the other 8-bit float of four exponent bits ends.
#include <cmath>
#include <cstdint>

static float decoded(uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float value = exponent == 0 ? std::ldexp(float(mantissa), -9) : std::ldexp(float(8 + mantissa), exponent - 10);
  value = value > 240 ? 240 : value;
  return bits & 128 ? -value : value;
}

void widened(const uint8_t* x, float* y, float s, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = s * decoded(x[i]);
}
