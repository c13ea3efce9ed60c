// apo:variant  to_bf16/bug_nearest
// apo:target   host
// apo:idea     To the nearest.
#include "bits.h"
void to_bf16(const float* x, const int64_t* seed, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = upper(std::bit_cast<uint32_t>(x[i]) + 0x7fff + (std::bit_cast<uint32_t>(x[i]) >> 16 & 1));
}
