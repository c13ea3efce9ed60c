// kernels/rounding.h - conversions between double and the storage dtypes, round to nearest even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace apo {

inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Round to nearest even; NaN stays NaN (quietened), overflow becomes infinity as IEEE 754 asks.
inline std::uint16_t float_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Directly from double, without the double rounding through float.
inline std::uint16_t double_to_bf16(double value) {
  auto narrow = static_cast<float>(value);
  if (std::isfinite(narrow) && static_cast<double>(narrow) != value) {
    // Round to odd in float, so that the second rounding cannot land on a tie that the first one made.
    auto bits = std::bit_cast<std::uint32_t>(narrow);
    const bool away = std::fabs(static_cast<double>(narrow)) > std::fabs(value);
    if (away) {
      --bits;
    }
    bits |= 1u;
    narrow = std::bit_cast<float>(bits);
  }
  return float_to_bf16(narrow);
}

inline double round_to_bf16(double value) {
  return static_cast<double>(bf16_to_float(double_to_bf16(value)));
}

}  // namespace apo
