// harness/executor/device/cuda_fp8.h - 8-bit floats for the CPU, in place of the toolkit's header: rounds to nearest
// even and saturates to the largest finite number, as the constructors there do.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

using __nv_fp8_storage_t = unsigned char;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// e4m3 has no infinity: its largest exponent holds numbers up to 448, and one NaN a sign.
inline int __apo_fp8_fraction_bits(__nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? 3 : 2;
}
inline int __apo_fp8_bias(__nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? 7 : 15;
}

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t format) {
  const unsigned largest = format == __NV_E4M3 ? 0x7eu : 0x7bu;
  const unsigned overflown = saturation == __NV_SATFINITE ? largest : format == __NV_E4M3 ? 0x7fu : 0x7cu;
  const unsigned sign = __float_as_uint(x) >> 24 & 0x80u;
  const float size = __uint_as_float(__float_as_uint(x) & 0x7fffffffu);
  if (size != size) {
    return 0x7f;
  }
  if (size > 1e6f) {
    return static_cast<__nv_fp8_storage_t>(sign | overflown);
  }
  const int fraction = __apo_fp8_fraction_bits(format), bias = __apo_fp8_bias(format);
  const int own = size == 0 ? 1 - bias : __builtin_ilogbf(size);
  const int exponent = own < 1 - bias ? 1 - bias : own;
  // A power of two takes nothing away; a carry out of the fraction is one into the exponent.
  const auto steps = static_cast<unsigned>(__builtin_rintf(__builtin_ldexpf(size, fraction - exponent)));
  const bool normal = steps >= 1u << fraction;
  const unsigned bits =
      normal ? (static_cast<unsigned>(exponent + bias) << fraction) + steps - (1u << fraction) : steps;
  return static_cast<__nv_fp8_storage_t>(sign | (bits > largest ? overflown : bits));
}
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturation,
                                                 __nv_fp8_interpretation_t format) {
  return __nv_cvt_float_to_fp8(static_cast<float>(x), saturation, format);
}
inline float __apo_fp8_to_float(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t format) {
  const int fraction = __apo_fp8_fraction_bits(format), bias = __apo_fp8_bias(format);
  const unsigned size = bits & 0x7fu, infinite = format == __NV_E4M3 ? 0x7fu : 0x7cu;
  const unsigned sign = (bits & 0x80u) << 24;
  if (size >= infinite) {
    const bool infinity = format == __NV_E5M2 && size == infinite;
    return __uint_as_float(infinity ? sign | 0x7f800000u : 0x7fffffffu);
  }
  const int exponent = static_cast<int>(size >> fraction);
  const unsigned steps = (size & ((1u << fraction) - 1)) + (exponent == 0 ? 0 : 1u << fraction);
  const float value = __builtin_ldexpf(static_cast<float>(steps), (exponent == 0 ? 1 : exponent) - bias - fraction);
  return sign == 0 ? value : -value;
}

template <__nv_fp8_interpretation_t kFormat>
struct __apo_fp8 {
  __nv_fp8_storage_t __x;
  __apo_fp8() = default;
  explicit __apo_fp8(float x) : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, kFormat)) {}
  explicit __apo_fp8(double x) : __apo_fp8(static_cast<float>(x)) {}
  explicit __apo_fp8(int x) : __apo_fp8(static_cast<float>(x)) {}
  explicit __apo_fp8(__half x) : __apo_fp8(__half2float(x)) {}
  explicit __apo_fp8(__nv_bfloat16 x) : __apo_fp8(__bfloat162float(x)) {}
  explicit operator float() const { return __apo_fp8_to_float(__x, kFormat); }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
  explicit operator __half() const { return __float2half(static_cast<float>(*this)); }
  explicit operator __nv_bfloat16() const { return __float2bfloat16(static_cast<float>(*this)); }
};
using __nv_fp8_e4m3 = __apo_fp8<__NV_E4M3>;
using __nv_fp8_e5m2 = __apo_fp8<__NV_E5M2>;
