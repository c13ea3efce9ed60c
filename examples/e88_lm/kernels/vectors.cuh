// vectors.cuh - eight elements at a time, and sums over the threads of a block. Widths are multiples of 8.
#pragma once
#include <cuda_bf16.h>

namespace byte_lm {

typedef __nv_bfloat16 bf16;

struct Eight {
  float x[8];
};

inline __device__ Eight load_eight(const float* from) {
  const float4 low = *reinterpret_cast<const float4*>(from), high = *reinterpret_cast<const float4*>(from + 4);
  return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

inline __device__ Eight load_eight(const bf16* from) {
  const uint4 bits = *reinterpret_cast<const uint4*>(from);
  const unsigned words[4] = {bits.x, bits.y, bits.z, bits.w};
  Eight values;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values.x[2 * i] = __uint_as_float(words[i] << 16);
    values.x[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
  }
  return values;
}

inline __device__ void store_eight(const Eight& values, float* to) {
  *reinterpret_cast<float4*>(to) = make_float4(values.x[0], values.x[1], values.x[2], values.x[3]);
  *reinterpret_cast<float4*>(to + 4) = make_float4(values.x[4], values.x[5], values.x[6], values.x[7]);
}

inline __device__ unsigned two_bf16(float low, float high) {
  return static_cast<unsigned>(__bfloat16_as_ushort(__float2bfloat16_rn(low))) |
         static_cast<unsigned>(__bfloat16_as_ushort(__float2bfloat16_rn(high))) << 16;
}

inline __device__ void store_eight(const Eight& v, bf16* to) {
  *reinterpret_cast<uint4*>(to) = make_uint4(two_bf16(v.x[0], v.x[1]), two_bf16(v.x[2], v.x[3]),
                                             two_bf16(v.x[4], v.x[5]), two_bf16(v.x[6], v.x[7]));
}

template <class Type>
inline __device__ Type warp_sum(Type value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

// In every thread; the block has a multiple of 32 threads.
template <class Type>
inline __device__ Type block_sum(Type value) {
  __shared__ Type sums[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  value = warp_sum(value);
  __syncthreads();  // what the call before left has been read
  if (lane == 0) {
    sums[warp] = value;
  }
  __syncthreads();
  return warp_sum(lane < warps ? sums[lane] : Type(0));
}

// Blocks leave their partial sums as rows of `partials`; a block of 256 threads adds up 32 columns, eight rows at a
// time and always in the same order.
inline __device__ void column_sums(long long rows, long long columns, long long stride, const float* partials,
                                   float* out) {
  __shared__ float sums[8][32];
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const long long column = 32ll * blockIdx.x + lane;
  float sum = 0;
  if (column < columns) {
#pragma unroll 4
    for (long long row = group; row < rows; row += 8) {
      sum += partials[row * stride + column];
    }
  }
  sums[group][lane] = sum;
  __syncthreads();
  if (group == 0 && column < columns) {
#pragma unroll
    for (int i = 1; i < 8; ++i) {
      sum += sums[i][lane];
    }
    out[column] = sum;
  }
}

}  // namespace byte_lm
