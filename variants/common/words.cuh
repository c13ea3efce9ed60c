// variants/common/words.cuh - bf16 and fp16 in 32-bit words, eight neighbours at a time, functions of one instruction.
#pragma once
#include <cuda_bf16.h>

namespace {

using bf16 = __nv_bfloat16;

constexpr unsigned kAll = 0xffffffffu;  // lanes of a warp

inline __device__ float load(float value) {
  return value;
}

inline __device__ float load(bf16 value) {
  return __bfloat162float(value);
}

inline __device__ bf16 store(float value) {
  return __float2bfloat16(value);
}

// The sum of x over kLanes neighbouring lanes, in each of them.
template <int kLanes = 32>
__device__ float sum_of_lanes(float x) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) {
    x += __shfl_xor_sync(kAll, x, step);
  }
  return x;
}

// The two bf16 of a word.
inline __device__ float low(unsigned pair) {
  return __uint_as_float(pair << 16);
}

inline __device__ float high(unsigned pair) {
  return __uint_as_float(pair & 0xffff0000u);
}

inline __device__ unsigned pack(float first, float second) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

// The two fp16 of a word.
inline __device__ float half_low(unsigned pair) {
  float x;
  asm("{ .reg .b16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, a; }" : "=f"(x) : "r"(pair));
  return x;
}

inline __device__ float half_high(unsigned pair) {
  float x;
  asm("{ .reg .b16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, b; }" : "=f"(x) : "r"(pair));
  return x;
}

inline __device__ unsigned pack_half(float first, float second) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

// One special-function instruction; relative error up to 2^-11.
inline __device__ float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 1 / (1 + e^-x), two special-function instructions
inline __device__ float logistic(float x) {
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.44269504f));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return inverse;
}

// The same by CUDA's own approximations, which take some instructions more.
inline __device__ float logistic_by_division(float x) {
  return __fdividef(1.0f, 1.0f + __expf(-x));
}

// Asks the L2 for what is at `address`, so that its loads wait for the L2 only.
inline __device__ void prefetch(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

// Eight neighbours of a row: 16 bytes of bf16, 32 of fp32.
struct Eight {
  float x[8];
};

inline __device__ Eight unpack(const uint4& words) {
  return {low(words.x), high(words.x), low(words.y), high(words.y),
          low(words.z), high(words.z), low(words.w), high(words.w)};
}

inline __device__ uint4 pack(const Eight& values) {
  const float* x = values.x;
  return make_uint4(pack(x[0], x[1]), pack(x[2], x[3]), pack(x[4], x[5]), pack(x[6], x[7]));
}

// Zeros where there is nothing.
inline __device__ uint4 load_words(const bf16* from, bool there) {
  return there ? *reinterpret_cast<const uint4*>(from) : uint4{};
}

inline __device__ Eight load_eight(const bf16* from, bool there) {
  const uint4 words = there ? *reinterpret_cast<const uint4*>(from) : uint4{};
  return {low(words.x), high(words.x), low(words.y), high(words.y),
          low(words.z), high(words.z), low(words.w), high(words.w)};
}

inline __device__ Eight load_eight(const float* from) {
  const float4 a = *reinterpret_cast<const float4*>(from), b = *reinterpret_cast<const float4*>(from + 4);
  return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
}

inline __device__ void store_eight(const Eight& values, float* to) {
  const float* x = values.x;
  *reinterpret_cast<float4*>(to) = make_float4(x[0], x[1], x[2], x[3]);
  *reinterpret_cast<float4*>(to + 4) = make_float4(x[4], x[5], x[6], x[7]);
}

inline __device__ void store_eight(const Eight& values, bf16* to, bool there) {
  if (there) {
    *reinterpret_cast<uint4*>(to) = pack(values);
  }
}

// Of a lane's own entries.
inline __device__ float dot_of_eight(const Eight& a, const Eight& b) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    sum += a.x[i] * b.x[i];
  }
  return sum;
}

inline __device__ void scale(Eight& values, float factor) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    values.x[i] *= factor;
  }
}

}  // namespace
