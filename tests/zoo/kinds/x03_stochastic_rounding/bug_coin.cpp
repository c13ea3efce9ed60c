// apo:variant  to_bf16/bug_coin
// apo:target   host
// apo:idea     Up or down by a coin.
#include "bits.h"
void to_bf16(const float* x, const int64_t* seed, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = static_cast<uint16_t>(upper(std::bit_cast<uint32_t>(x[i])) + (uniform(seed[0], i) < 0.5f));
}
