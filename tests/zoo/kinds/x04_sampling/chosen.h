// How most kernels of this case choose.
#pragma once
#include <cmath>

#include "mixed.h"

// The first choice whose weights with those before it are more than a part of all.
inline int32_t chosen(const float* logits, int64_t choices, float part, float sharpness = 1) {
  float largest = logits[0];
  for (int64_t c = 1; c < choices; ++c)
    largest = std::fmax(largest, logits[c]);
  float all = 0;
  for (int64_t c = 0; c < choices; ++c)
    all += std::exp(sharpness * (logits[c] - largest));
  float left = part * all;
  int32_t c = 0;
  for (; c + 1 < choices; ++c) {
    left -= std::exp(sharpness * (logits[c] - largest));
    if (left < 0)
      break;
  }
  return c;
}
