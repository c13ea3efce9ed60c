// kernels/dtype.h - the storage dtypes of tensors: their names, their precision, and conversions from and to double.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/rounding.h"

namespace apo {

// e4m3 and e5m2 are the 8-bit floats of the OCP specification (Micikevicius et al. 2022, arXiv 2209.05433).
enum class DType : std::uint8_t { f64, f32, f16, bf16, e4m3, e5m2, i64, i32, i16, i8, u8, boolean };

inline constexpr DType kDTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::e4m3, DType::e5m2,
                                    DType::i64, DType::i32, DType::i16, DType::i8,   DType::u8,   DType::boolean};

// What a dtype can hold. A float has `precision` significant bits, the hidden one included; `smallest` is the distance
// of its subnormal numbers and `largest` its largest finite number. For integers `precision` is 0.
struct DTypeFacts {
  std::string_view name;  // "f64", ..., "bool"
  std::int64_t bytes = 0;
  int precision = 0;
  double smallest = 0;
  double largest = 0;
};

inline constexpr DTypeFacts kDTypeFacts[] = {
    {.name = "f64", .bytes = 8, .precision = 53, .smallest = 0x1p-1074, .largest = 0x1.fffffffffffffp1023},
    {.name = "f32", .bytes = 4, .precision = 24, .smallest = 0x1p-149, .largest = 0x1.fffffep127},
    {.name = "f16", .bytes = 2, .precision = 11, .smallest = 0x1p-24, .largest = 65504},
    {.name = "bf16", .bytes = 2, .precision = 8, .smallest = 0x1p-133, .largest = 0x1.fep127},
    {.name = "e4m3", .bytes = 1, .precision = 4, .smallest = 0x1p-9, .largest = 448},
    {.name = "e5m2", .bytes = 1, .precision = 3, .smallest = 0x1p-16, .largest = 57344},
    {.name = "i64", .bytes = 8, .precision = 0, .smallest = 1, .largest = 0x1p63},
    {.name = "i32", .bytes = 4, .precision = 0, .smallest = 1, .largest = 2147483647.0},
    {.name = "i16", .bytes = 2, .precision = 0, .smallest = 1, .largest = 32767},
    {.name = "i8", .bytes = 1, .precision = 0, .smallest = 1, .largest = 127},
    {.name = "u8", .bytes = 1, .precision = 0, .smallest = 1, .largest = 255},
    {.name = "bool", .bytes = 1, .precision = 0, .smallest = 1, .largest = 1},
};

constexpr const DTypeFacts& facts_of(DType dtype) {
  return kDTypeFacts[static_cast<std::size_t>(dtype)];
}
std::optional<DType> find_dtype(std::string_view name);

std::string_view to_string(DType dtype);
constexpr std::int64_t dtype_bytes(DType dtype) {
  return facts_of(dtype).bytes;
}
inline bool is_float(DType dtype) {
  return facts_of(dtype).precision > 0;
}
// The largest relative error of rounding to the nearest: 2^-8 for bf16. 0 for integers.
double unit_roundoff(DType dtype);

inline std::uint64_t integer_bits(DType dtype, double value) {
  if (dtype == DType::boolean) {
    return value != 0 ? 1 : 0;
  }
  const double largest = facts_of(dtype).largest;
  const double lowest = dtype == DType::u8 ? 0 : dtype == DType::i64 ? -0x1p63 : -largest - 1;
  const double rounded = std::nearbyint(value);
  if (!(rounded > lowest)) {  // also NaN
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(lowest));
  }
  return rounded >= 0x1p63 ? static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                           : static_cast<std::uint64_t>(static_cast<std::int64_t>(std::min(rounded, largest)));
}

// The bits of `value` in the lowest bytes, rounded to nearest even. Beyond the range: infinity in f16, bf16, e5m2 and
// f32, the largest number in e4m3 (which has no infinity) and in integers, which round to nearest even too. NaN stays
// NaN; in integers it becomes the smallest one. bool is value != 0.
inline std::uint64_t to_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::f64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::bf16:
      return double_to_bf16(value);
    case DType::f16:
      return small_float_bits<kF16>(value);
    case DType::e4m3:
      return small_float_bits<kE4M3>(value);
    case DType::e5m2:
      return small_float_bits<kE5M2>(value);
    default:
      return integer_bits(dtype, value);
  }
}

// The value of the lowest bytes of `bits`. An i64 beyond 2^53 is rounded.
inline double from_bits(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::f64:
      return std::bit_cast<double>(bits);
    case DType::f32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case DType::bf16:
      return static_cast<double>(bf16_to_float(static_cast<std::uint16_t>(bits)));
    case DType::f16:
      return small_float_value<kF16>(bits);
    case DType::e4m3:
      return small_float_value<kE4M3>(bits);
    case DType::e5m2:
      return small_float_value<kE5M2>(bits);
    case DType::u8:
    case DType::boolean:
      return static_cast<double>(bits & 0xff);
    case DType::i8:
      return static_cast<double>(static_cast<std::int8_t>(bits));
    case DType::i16:
      return static_cast<double>(static_cast<std::int16_t>(bits));
    case DType::i32:
      return static_cast<double>(static_cast<std::int32_t>(bits));
    case DType::i64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
  }
  return 0;
}

inline double round_to(DType dtype, double value) {
  return from_bits(dtype, to_bits(dtype, value));
}

// Calls work.operator()<dtype>(), so that a loop over elements has its dtype as a constant.
template <class Work, std::size_t... I>
void with_dtype(DType dtype, Work work, std::index_sequence<I...> /*all*/) {
  (void)((dtype == kDTypes[I] && (work.template operator()<kDTypes[I]>(), true)) || ...);
}
template <class Work>
void with_dtype(DType dtype, Work work) {
  with_dtype(dtype, work, std::make_index_sequence<std::size(kDTypes)>());
}

// The values of so many elements that are stored one behind the other.
template <DType kDType>
void read_stored(const std::byte* from, std::int64_t count, double* to) {
  constexpr auto kWidth = static_cast<std::size_t>(dtype_bytes(kDType));
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;  // little-endian: its lowest bytes come first
    std::memcpy(&bits, from + static_cast<std::size_t>(i) * kWidth, kWidth);
    to[i] = from_bits(kDType, bits);
  }
}

}  // namespace apo
