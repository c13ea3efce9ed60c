// variants/common/words.cuh - bf16 and fp16 in words, eight neighbours at a time, sums over lanes, one-instruction
// maths.
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

}  // namespace
