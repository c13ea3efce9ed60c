// What all kernels of this case draw from: a bit mixer of the seed and a place, as a number in [0, 1).
#pragma once
#include <cstdint>

inline float uniform(uint64_t seed, uint64_t place) {
  uint64_t v = seed * 0x9e3779b97f4a7c15ull + place;
  for (int round = 0; round < 2; ++round) {
    v ^= v >> 30;
    v *= 0xbf58476d1ce4e5b9ull;
    v ^= v >> 27;
    v *= 0x94d049bb133111ebull;
    v ^= v >> 31;
  }
  return static_cast<float>(v >> 40) * 0x1p-24f;
}
