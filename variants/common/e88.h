// variants/common/e88.h - what every E88 variant on the host knows: the segment, and the L2 norm of a row of k or q.
// Needs kN and kNORM of the family's args.h.
#pragma once
#include <cmath>

#include "bf16.h"

namespace {

constexpr int64_t kSegment = 16;  // steps between two checkpoints

// rsqrt(|x|^2 + epsilon), or 1 without the norm
float inverse_norm(const uint16_t* x) {
  float squares = 0;
  for (int64_t i = 0; i < kN; ++i) {
    squares += load(x[i]) * load(x[i]);
  }
  return kNORM ? 1.0f / std::sqrt(squares + 1e-12f) : 1.0f;
}

// x^ = x rsqrt(|x|^2 + epsilon); returns the factor.
float normalise(const uint16_t* x, float* unit) {
  const float scale = inverse_norm(x);
  for (int64_t i = 0; i < kN; ++i) {
    unit[i] = load(x[i]) * scale;
  }
  return scale;
}

// Every sequence (b, h), one after the other.
[[gnu::always_inline]] inline void all_sequences(const auto& a, auto run) {
  for (int64_t b = 0; b < a.B; ++b) {
    for (int64_t h = 0; h < a.H; ++h) {
      run(b, h);
    }
  }
}

}  // namespace
