// harness/executor/device/vector_types.h - CUDA's vector types with their alignments, and make_*.
#pragma once

#define APO_CPU_VECTORS(BASE, TYPE, ALIGN2, ALIGN4)                  \
  struct BASE##1 {                                                   \
    TYPE x;                                                          \
  };                                                                 \
  struct alignas(ALIGN2) BASE##2 {                                   \
    TYPE x, y;                                                       \
  };                                                                 \
  struct BASE##3 {                                                   \
    TYPE x, y, z;                                                    \
  };                                                                 \
  struct alignas(ALIGN4) BASE##4 {                                   \
    TYPE x, y, z, w;                                                 \
  };                                                                 \
  constexpr BASE##1 make_##BASE##1(TYPE x) {                         \
    return {x};                                                      \
  }                                                                  \
  constexpr BASE##2 make_##BASE##2(TYPE x, TYPE y) {                 \
    return {x, y};                                                   \
  }                                                                  \
  constexpr BASE##3 make_##BASE##3(TYPE x, TYPE y, TYPE z) {         \
    return {x, y, z};                                                \
  }                                                                  \
  constexpr BASE##4 make_##BASE##4(TYPE x, TYPE y, TYPE z, TYPE w) { \
    return {x, y, z, w};                                             \
  }
APO_CPU_VECTORS(char, signed char, 2, 4)
APO_CPU_VECTORS(uchar, unsigned char, 2, 4)
APO_CPU_VECTORS(short, short, 4, 8)
APO_CPU_VECTORS(ushort, unsigned short, 4, 8)
APO_CPU_VECTORS(int, int, 8, 16)
APO_CPU_VECTORS(uint, unsigned, 8, 16)
APO_CPU_VECTORS(long, long, 16, 16)
APO_CPU_VECTORS(ulong, unsigned long, 16, 16)
APO_CPU_VECTORS(longlong, long long, 16, 16)
APO_CPU_VECTORS(ulonglong, unsigned long long, 16, 16)
APO_CPU_VECTORS(float, float, 8, 16)
APO_CPU_VECTORS(double, double, 16, 16)
#undef APO_CPU_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

namespace apo_cpu {

[[gnu::always_inline]] inline uint3 uint3_of(const Triple& t) {
  return {t.x, t.y, t.z};
}
[[gnu::always_inline]] inline dim3 dim3_of(const Triple& t) {
  return {t.x, t.y, t.z};
}

}  // namespace apo_cpu
