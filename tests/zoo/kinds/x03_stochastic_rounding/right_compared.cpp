// apo:variant  to_bf16/right_compared
// apo:target   host
// apo:idea     The lower 16 bits against a random number.
#include "bits.h"
void to_bf16(const float* x, const int64_t* seed, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(x[i]);
    y[i] = static_cast<uint16_t>((bits >> 16) + (drawn_bits(seed[0] ^ 77, i) < (bits & 0xffff)));
  }
}
