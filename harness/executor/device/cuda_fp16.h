// harness/executor/device/cuda_fp16.h - fp16 for the CPU, in place of the toolkit's header: rounds to nearest even.
#pragma once

#include "halves.h"

APO_CPU_HALVES(__half, half)
using half = __half;
using half2 = __half2;

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
inline float __half2float(__half x) {
  const unsigned sign = (x.bits & 0x8000u) << 16, size = x.bits & 0x7fffu;
  if (size >= 0x7c00u) {
    return __uint_as_float(sign | 0x7f800000u | (size & 0x3ffu) << 13);
  }
  // The exponents differ by 112, which a multiplication changes for subnormals too.
  return __uint_as_float(sign | __float_as_uint(__uint_as_float(size << 13) * 0x1p112f));
}
