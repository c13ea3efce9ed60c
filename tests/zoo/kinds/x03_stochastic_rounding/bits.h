// The bits of bf16, and random ones below them.
#pragma once
#include <bit>

#include "mixed.h"

inline uint16_t upper(uint32_t bits) {
  return static_cast<uint16_t>(bits >> 16);
}

inline uint32_t drawn_bits(uint64_t seed, uint64_t place) {
  return static_cast<uint32_t>(uniform(seed, place) * 65536);
}
