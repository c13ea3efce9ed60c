// apo:variant  act_quant/plain
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

static float of_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// The nearest number of three bits behind the point, ties to even; at most 448.
static uint8_t e4m3_of(float x) {
  const float magnitude = std::min(std::abs(x), 448.0f);
  int exponent = 0;
  std::frexp(std::max(magnitude, 0x1p-20f), &exponent);
  const int step = std::max(exponent - 4, -9);
  int units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -step)));
  const int code = units + 8 * (step + 9);
  return static_cast<uint8_t>(code | (std::signbit(x) ? 0x80 : 0));
}

void act_quant(const uint16_t* x, uint8_t* y, float* s, int64_t M, int64_t N) {
  for (int64_t block = 0; block < M * N / 128; ++block, x += 128, y += 128) {
    float largest = 1e-4f;
    for (int i = 0; i < 128; ++i)
      largest = std::max(largest, std::abs(of_bf16(x[i])));
    s[block] = largest / 448;
    for (int i = 0; i < 128; ++i)
      y[i] = e4m3_of(of_bf16(x[i]) / s[block]);
  }
}
