// variants/common/powers.h - log2 and exp2 on a CPU by polynomials without branches, which the compiler vectorises.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace {

// Of a normal x > 0. x = 2^e (1 + f) with f in [sqrt(1/2) - 1, sqrt(2) - 1), so that no digits cancel near x = 1; the
// polynomial is logf's of Cephes (Moshier 1989).
inline float log2_of(float x) {
  constexpr uint32_t kSqrtHalf = 0x3f3504f3, kFraction = 0x007fffff;
  constexpr float kLog2E = 1.44269504f;
  const uint32_t bits = std::bit_cast<uint32_t>(x) - kSqrtHalf;
  const auto e = static_cast<float>(static_cast<int32_t>(bits) >> 23);
  const float f = std::bit_cast<float>((bits & kFraction) + kSqrtHalf) - 1;
  float p = 7.0376836292e-2f * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  const float logarithm = f + f * f * (p * f - 0.5f);
  return logarithm * kLog2E + e;
}

// Denormal below 2^-126, infinite from 2^128 on. x = n + f with f in [-1/2, 1/2]; the polynomial is exp2f's of Cephes.
inline float exp2_of(float x) {
  constexpr float kToWhole = 12582912;  // 1.5 * 2^23: the sum has n in its last bits
  constexpr uint32_t kSign = 0x80000000;
  // Beyond +-250 as there; an integer's minimum, because the compiler makes a branch of a float's.
  const auto bits = std::bit_cast<uint32_t>(x);
  x = std::bit_cast<float>((bits & kSign) | std::min(bits & ~kSign, std::bit_cast<uint32_t>(250.0f)));
  const float shifted = x + kToWhole, f = x - (shifted - kToWhole);
  float p = 1.535336188e-4f * f + 1.339887440e-3f;
  p = p * f + 9.618437358e-3f;
  p = p * f + 5.550332471e-2f;
  p = p * f + 2.402264791e-1f;
  p = p * f + 6.931472028e-1f;
  p = p * f + 1;
  const int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kToWhole), half = n >> 1;
  return p * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((n - half + 127) << 23);
}

}  // namespace
