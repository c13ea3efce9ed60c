// apo:variant  global_norm/plain
#include <cstdint>

void global_norm(const float* values, float* out, int64_t count) {
  float lanes[16] = {};
  int64_t i = 0;
  for (; i + 16 <= count; i += 16)
    for (int l = 0; l < 16; ++l)
      lanes[l] += values[i + l] * values[i + l];
  float total = 0;
  for (; i < count; ++i)
    total += values[i] * values[i];
  for (const float lane : lanes)
    total += lane;
  out[0] = total;
}
