// kernels/rounding.h - conversions between double and the storage dtypes, round to nearest even.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

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

// A float of at most 16 bits: its fields, and whether its largest exponent means infinity and NaN as in IEEE 754. Where
// it does not, only the pattern of all ones is NaN (e4m3).
struct SmallFloat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  bool has_infinity = true;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint64_t infinity() const { return ((1ull << exponent_bits) - 1) << mantissa_bits; }
  constexpr std::uint64_t nan() const { return infinity() | ((1ull << mantissa_bits) - 1); }
  constexpr std::uint64_t largest() const { return (has_infinity ? infinity() : nan()) - 1; }
  constexpr std::uint64_t sign() const { return 1ull << (exponent_bits + mantissa_bits); }
};
inline constexpr SmallFloat kF16 = {.exponent_bits = 5, .mantissa_bits = 10};
inline constexpr SmallFloat kE4M3 = {.exponent_bits = 4, .mantissa_bits = 3, .has_infinity = false};
inline constexpr SmallFloat kE5M2 = {.exponent_bits = 5, .mantissa_bits = 2};

// Rounds to nearest even. What is too large becomes infinity, or the largest number where there is no infinity.
template <SmallFloat F>
std::uint64_t small_float_bits(double value) {
  const std::uint64_t sign = std::signbit(value) ? F.sign() : 0;
  if (std::isnan(value)) {
    return sign | F.nan();
  }
  const double magnitude = std::fabs(value);
  const int exponent = magnitude == 0 ? 1 - F.bias() : std::max(1 - F.bias(), std::ilogb(magnitude));
  if (exponent > F.bias() + 1) {
    return sign | (F.has_infinity ? F.infinity() : F.largest());
  }
  // In steps of the spacing at this exponent; a mantissa that rounds up carries into the exponent by itself.
  const double steps = std::nearbyint(std::ldexp(magnitude, F.mantissa_bits - exponent));
  const auto above =
      static_cast<std::uint64_t>(steps) + (static_cast<std::uint64_t>(exponent - (1 - F.bias())) << F.mantissa_bits);
  return sign | std::min(above, F.has_infinity ? F.infinity() : F.largest());
}

template <SmallFloat F>
double small_float_value(std::uint64_t bits) {
  const std::uint64_t fields = bits & (F.sign() - 1);
  const double sign = (bits & F.sign()) != 0 ? -1.0 : 1.0;
  if (F.has_infinity ? fields > F.infinity() : fields == F.nan()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (F.has_infinity && fields == F.infinity()) {
    return sign * std::numeric_limits<double>::infinity();
  }
  const auto exponent = static_cast<int>(fields >> F.mantissa_bits);
  const std::uint64_t mantissa = fields & ((1ull << F.mantissa_bits) - 1);
  const std::uint64_t significand = exponent == 0 ? mantissa : mantissa | (1ull << F.mantissa_bits);
  return sign * std::ldexp(static_cast<double>(significand), std::max(exponent, 1) - F.bias() - F.mantissa_bits);
}

inline double round_to_bf16(double value) {
  return static_cast<double>(bf16_to_float(double_to_bf16(value)));
}

}  // namespace apo
