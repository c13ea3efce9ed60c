// A bit mixer: what it is given, as a number in [0, 1).
#pragma once

__device__ float uniform(unsigned long long v) {
  for (int round = 0; round < 2; ++round) {
    v ^= v >> 30;
    v *= 0xbf58476d1ce4e5b9ull;
    v ^= v >> 27;
    v *= 0x94d049bb133111ebull;
    v ^= v >> 31;
  }
  return static_cast<float>(v >> 40) * 0x1p-24f;
}
