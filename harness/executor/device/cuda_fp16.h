// harness/executor/device/cuda_fp16.h - fp16 for the CPU, in place of the toolkit's header: rounds to nearest even.
#pragma once

#include "vector_types.h"

struct __half;
inline __half __float2half(float x);
inline float __half2float(__half x);

struct __half {
  unsigned short bits;
  __half() = default;
  __half(float x) : __half(__float2half(x)) {}
  __half(double x) : __half(static_cast<float>(x)) {}
  __half(int x) : __half(static_cast<float>(x)) {}
  operator float() const { return __half2float(*this); }
};
struct __half2 {
  alignas(4) __half x;
  __half y;
};
using half = __half;
using half2 = __half2;

inline __half __ushort_as_half(unsigned short bits) {
  __half x;
  x.bits = bits;
  return x;
}
inline unsigned short __half_as_ushort(__half x) {
  return x.bits;
}
inline __half __float2half(float x) {
  const unsigned word = __float_as_uint(x), sign = word >> 16 & 0x8000u, size = word & 0x7fffffffu;
  unsigned bits = 0;
  if (size > 0x7f800000u) {
    return __ushort_as_half(0x7fff);  // the GPU's NaN
  }
  if (size >= 0x477ff000u) {
    bits = 0x7c00u;  // rounds to infinity
  } else if (size >= 0x38800000u) {
    const unsigned scaled = size - 0x38000000u;
    bits = (scaled + 0xfffu + (scaled >> 13 & 1)) >> 13;
  } else {
    // Below 2^-14 halves are multiples of 2^-24: adding 0.5, whose last bit is worth 2^-24, rounds to one.
    bits = __float_as_uint(__uint_as_float(size) + 0.5f) - 0x3f000000u;
  }
  return __ushort_as_half(static_cast<unsigned short>(sign | bits));
}
inline __half __float2half_rn(float x) {
  return __float2half(x);
}
inline float __half2float(__half x) {
  const unsigned sign = (x.bits & 0x8000u) << 16, size = x.bits & 0x7fffu;
  if (size >= 0x7c00u) {
    return __uint_as_float(sign | 0x7f800000u | (size & 0x3ffu) << 13);
  }
  // The exponents differ by 112, which a multiplication changes for subnormals too.
  return __uint_as_float(sign | __float_as_uint(__uint_as_float(size << 13) * 0x1p112f));
}
inline __half2 __halves2half2(__half x, __half y) {
  return {x, y};
}
inline __half2 make_half2(__half x, __half y) {
  return {x, y};
}
inline __half2 __floats2half2_rn(float x, float y) {
  return {__float2half(x), __float2half(y)};
}
inline __half2 __float22half2_rn(float2 v) {
  return __floats2half2_rn(v.x, v.y);
}
inline float2 __half22float2(__half2 v) {
  return {__half2float(v.x), __half2float(v.y)};
}
inline __half __low2half(__half2 v) {
  return v.x;
}
inline __half __high2half(__half2 v) {
  return v.y;
}
inline float __low2float(__half2 v) {
  return __half2float(v.x);
}
inline float __high2float(__half2 v) {
  return __half2float(v.y);
}
inline __half __hadd(__half x, __half y) {
  return __float2half(static_cast<float>(x) + static_cast<float>(y));
}
inline __half __hmul(__half x, __half y) {
  return __float2half(static_cast<float>(x) * static_cast<float>(y));
}
inline __half __hfma(__half x, __half y, __half z) {
  return __float2half(fmaf(x, y, z));
}
