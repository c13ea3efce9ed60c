// apo:variant  sample/bug_sharp
// apo:target   host
// apo:idea     A temperature of 0.8.
#include <cmath>

#include "mixed.h"
// The first choice whose weights with those before it are more than a part of all.
static int32_t chosen(const float* logits, int64_t choices, float part, float sharpness = 1) {
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

void sample(const float* logits, const int64_t* seed, int32_t* token, int64_t rows, int64_t choices) {
  for (int64_t r = 0; r < rows; ++r)
    token[r] = chosen(logits + r * choices, choices, uniform(seed[0], r), 1.25f);
}
