// What most kernels of this case take from x and the seed.
#pragma once
#include <bit>

#include "mixed.h"

inline float of(uint16_t bf16) {
  return std::bit_cast<float>(static_cast<uint32_t>(bf16) << 16);
}

inline bool kept(const int64_t* seed, int64_t i, float keep) {
  return uniform(seed[0] ^ seed[1] << 32, i) < keep;
}
