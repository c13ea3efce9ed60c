// harness/executor/device/halves.h - what CUDA's two floats of 16 bits, and pairs of them, have in common.
#pragma once

#include "vector_types.h"

// TYPE and the pair TYPE##2, whose functions have NAME in their names; __float2##NAME and __##NAME##2float round and
// widen.
#define APO_CPU_HALVES(TYPE, NAME)                                        \
  struct TYPE;                                                            \
  inline TYPE __float2##NAME(float x);                                    \
  inline float __##NAME##2float(TYPE x);                                  \
  struct TYPE {                                                           \
    unsigned short bits;                                                  \
    TYPE() = default;                                                     \
    TYPE(float x) : TYPE(__float2##NAME(x)) {}                            \
    TYPE(double x) : TYPE(static_cast<float>(x)) {}                       \
    TYPE(int x) : TYPE(static_cast<float>(x)) {}                          \
    operator float() const { return __##NAME##2float(*this); }            \
  };                                                                      \
  struct TYPE##2 {                                                        \
    alignas(4) TYPE x;                                                    \
    TYPE y;                                                               \
  };                                                                      \
  inline TYPE __ushort_as_##NAME(unsigned short bits) {                   \
    TYPE x;                                                               \
    x.bits = bits;                                                        \
    return x;                                                             \
  }                                                                       \
  inline unsigned short __##NAME##_as_ushort(TYPE x) {                    \
    return x.bits;                                                        \
  }                                                                       \
  inline TYPE __float2##NAME##_rn(float x) {                              \
    return __float2##NAME(x);                                             \
  }                                                                       \
  inline TYPE##2 __halves2##NAME##2(TYPE x, TYPE y) {                     \
    return {x, y};                                                        \
  }                                                                       \
  inline TYPE##2 make_##NAME##2(TYPE x, TYPE y) {                         \
    return {x, y};                                                        \
  }                                                                       \
  inline TYPE##2 __floats2##NAME##2_rn(float x, float y) {                \
    return {__float2##NAME(x), __float2##NAME(y)};                        \
  }                                                                       \
  inline TYPE##2 __float22##NAME##2_rn(float2 v) {                        \
    return __floats2##NAME##2_rn(v.x, v.y);                               \
  }                                                                       \
  inline float2 __##NAME##22float2(TYPE##2 v) {                           \
    return {__##NAME##2float(v.x), __##NAME##2float(v.y)};                \
  }                                                                       \
  inline TYPE __low2##NAME(TYPE##2 v) {                                   \
    return v.x;                                                           \
  }                                                                       \
  inline TYPE __high2##NAME(TYPE##2 v) {                                  \
    return v.y;                                                           \
  }                                                                       \
  inline float __low2float(TYPE##2 v) {                                   \
    return __##NAME##2float(v.x);                                         \
  }                                                                       \
  inline float __high2float(TYPE##2 v) {                                  \
    return __##NAME##2float(v.y);                                         \
  }                                                                       \
  inline TYPE __hadd(TYPE x, TYPE y) {                                    \
    return __float2##NAME(static_cast<float>(x) + static_cast<float>(y)); \
  }                                                                       \
  inline TYPE __hmul(TYPE x, TYPE y) {                                    \
    return __float2##NAME(static_cast<float>(x) * static_cast<float>(y)); \
  }                                                                       \
  inline TYPE __hfma(TYPE x, TYPE y, TYPE z) {                            \
    return __float2##NAME(fmaf(x, y, z));                                 \
  }
