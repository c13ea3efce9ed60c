// half_products.cuh - products of a state in packed fp16 with a few vectors on the tensor cores, one warp. A state of
// fp16 is exact there; of a vector an upper and a lower part are multiplied, 22 bits of it.
#pragma once
#include "words.cuh"

namespace {

// d += a b by mma.m16n8k16 of fp16, sums in fp32.
#ifdef __APO_CPU__
inline __device__ void multiply_halves(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const unsigned b[2] = {b0, b1};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const unsigned rows[2] = {__shfl_sync(kAll, a[2 * half], 4 * g + s),
                                __shfl_sync(kAll, a[2 * half + 1], 4 * g + s)};
      const unsigned columns[2] = {__shfl_sync(kAll, b[half], 8 * t + s), __shfl_sync(kAll, b[half], 8 * t + 4 + s)};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        d[i] += half_low(rows[i / 2]) * half_low(columns[i % 2]) + half_high(rows[i / 2]) * half_high(columns[i % 2]);
      }
    }
  }
}
#else
inline __device__ void multiply_halves(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif

// fp16 ends at 6e-8: what a sum must keep of small states is multiplied before, and the sum divided.
constexpr float kHalfScale = 256.0f;

// Eight neighbours of a vector, and what fp16 cuts off them.
inline __device__ uint4 upper_halves(const Eight& v) {
  const float* x = v.x;
  return make_uint4(pack_half(x[0], x[1]), pack_half(x[2], x[3]), pack_half(x[4], x[5]), pack_half(x[6], x[7]));
}

inline __device__ uint4 lower_halves(const Eight& v, const uint4& upper) {
  const unsigned pairs[4] = {upper.x, upper.y, upper.z, upper.w};
  Eight rest;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    rest.x[2 * i] = v.x[2 * i] - half_low(pairs[i]);
    rest.x[2 * i + 1] = v.x[2 * i + 1] - half_high(pairs[i]);
  }
  return upper_halves(rest);
}

// A vector of 32 in fp16: its upper parts and its lower parts, eight neighbours a word group.
struct HalfVector {
  uint4 parts[8];
  __device__ void store(const Eight& v, int part) {
    const uint4 halves = upper_halves(v), rest = lower_halves(v, halves);
    parts[part / 8] = halves;
    parts[part / 8 + 4] = rest;
  }
  // The right operand of sums over rows, lane % 8 of them: even columns of the product take the upper parts, odd ones
  // the lower.
  __device__ uint4 operand() const { return parts[threadIdx.x % 8]; }
};

// Lane (t, g), t = lane % 4 and g = lane / 4, has rows 8t..8t+7 of four columns, which are all its own: pairs of rows
// in words. sum_i S[i][j] x[i] of these columns, in all four lanes that share them.
inline __device__ void sums_over_rows(const uint4 (&S)[4], const uint4& x, float (&sums)[4]) {
#pragma unroll
  for (int m = 0; m < 2; ++m) {
    const uint4 &even = S[2 * m], &odd = S[2 * m + 1];
    float first[4] = {}, second[4] = {};
    multiply_halves(first, {even.x, odd.x, even.y, odd.y}, x.x, x.y);
    multiply_halves(second, {even.z, odd.z, even.w, odd.w}, x.z, x.w);
    sums[2 * m] = (first[0] + first[1]) + (second[0] + second[1]);
    sums[2 * m + 1] = (first[2] + first[3]) + (second[2] + second[3]);
  }
}

}  // namespace
