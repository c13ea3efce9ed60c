// apo:variant  add_norm/bug_added_twice
// apo:target   host
// apo:idea     The second pass adds x to what the first has written.
#include <cmath>
#include <cstdint>
#include <cstring>

static float wide(uint16_t half) {
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
static uint16_t narrow(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
void add_norm(const uint16_t* x, uint16_t* y, uint16_t* h, float eps, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols, h += cols) {
    float squares = 0;
    for (int64_t c = 0; c < cols; ++c) {
      h[c] = narrow(wide(h[c]) + wide(x[c]));
      squares += wide(h[c]) * wide(h[c]);
    }
    const float scale = 1 / std::sqrt(squares / static_cast<float>(cols) + eps);
    for (int64_t c = 0; c < cols; ++c)
      y[c] = narrow((wide(h[c]) + wide(x[c])) * scale);
  }
}
