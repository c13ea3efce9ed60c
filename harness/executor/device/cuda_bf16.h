// harness/executor/device/cuda_bf16.h - bf16 for the CPU, in place of the toolkit's header: rounds to nearest even.
#pragma once

#include "halves.h"

APO_CPU_HALVES(__nv_bfloat16, bfloat16)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 __float2bfloat16(float x) {
  const unsigned word = __float_as_uint(x);
  if ((word & 0x7fffffffu) > 0x7f800000u) {
    return __ushort_as_bfloat16(0x7fff);  // the GPU's NaN
  }
  return __ushort_as_bfloat16(static_cast<unsigned short>((word + 0x7fffu + (word >> 16 & 1)) >> 16));
}
inline float __bfloat162float(__nv_bfloat16 x) {
  return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}
inline __nv_bfloat162 operator+(__nv_bfloat162 x, __nv_bfloat162 y) {
  return {__hadd(x.x, y.x), __hadd(x.y, y.y)};
}
