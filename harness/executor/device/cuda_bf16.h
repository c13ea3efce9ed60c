// harness/executor/device/cuda_bf16.h - bf16 for the CPU, in place of the toolkit's header: rounds to nearest even.
#pragma once

#include "vector_types.h"

struct __nv_bfloat16;
inline __nv_bfloat16 __float2bfloat16(float x);
inline float __bfloat162float(__nv_bfloat16 x);

struct __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __nv_bfloat16(float x) : __nv_bfloat16(__float2bfloat16(x)) {}
  __nv_bfloat16(double x) : __nv_bfloat16(static_cast<float>(x)) {}
  __nv_bfloat16(int x) : __nv_bfloat16(static_cast<float>(x)) {}
  operator float() const { return __bfloat162float(*this); }
};
struct __nv_bfloat162 {
  alignas(4) __nv_bfloat16 x;
  __nv_bfloat16 y;
};
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 x;
  x.bits = bits;
  return x;
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) {
  return x.bits;
}
inline __nv_bfloat16 __float2bfloat16(float x) {
  const unsigned word = __float_as_uint(x);
  if ((word & 0x7fffffffu) > 0x7f800000u) {
    return __ushort_as_bfloat16(0x7fff);  // the GPU's NaN
  }
  return __ushort_as_bfloat16(static_cast<unsigned short>((word + 0x7fffu + (word >> 16 & 1)) >> 16));
}
inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  return __float2bfloat16(x);
}
inline float __bfloat162float(__nv_bfloat16 x) {
  return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16(x), __float2bfloat16(y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) {
  return __floats2bfloat162_rn(v.x, v.y);
}
inline float2 __bfloat1622float2(__nv_bfloat162 v) {
  return {__bfloat162float(v.x), __bfloat162float(v.y)};
}
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) {
  return v.x;
}
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) {
  return v.y;
}
inline float __low2float(__nv_bfloat162 v) {
  return __bfloat162float(v.x);
}
inline float __high2float(__nv_bfloat162 v) {
  return __bfloat162float(v.y);
}
inline __nv_bfloat16 __hadd(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __float2bfloat16(static_cast<float>(x) + static_cast<float>(y));
}
inline __nv_bfloat162 operator+(__nv_bfloat162 x, __nv_bfloat162 y) {
  return {__hadd(x.x, y.x), __hadd(x.y, y.y)};
}
inline __nv_bfloat16 __hmul(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __float2bfloat16(static_cast<float>(x) * static_cast<float>(y));
}
inline __nv_bfloat16 __hfma(__nv_bfloat16 x, __nv_bfloat16 y, __nv_bfloat16 z) {
  return __float2bfloat16(fmaf(x, y, z));
}
