// variants/common/split_slices.cuh - what the warps of a block hand over, each the rows of its columns, to the block
// that goes on with their sequence.
#pragma once
#include "e88_split.cuh"
#include "time_slices.cuh"

namespace {

// In the order of the lanes; a flag a warp.
template <class Args>
__device__ void leave_rows(const Args& a, const ColumnPlace& p, const float (&rows)[COLUMNS]) {
  const long long warp = static_cast<long long>(blockIdx.x) * kWarps + p.warp;
  float* const to = static_cast<float*>(a.handed) + (32 * COLUMNS * warp + p.lane);
#pragma unroll
  for (int r = 0; r < COLUMNS; ++r) {
    to[32 * r] = rows[r];
  }
  __threadfence();
  __syncwarp();
  if (p.lane == 0) {
    raise_flag(a.ready, warp);
  }
}

template <class Args>
__device__ void await_rows(const Args& a, const ColumnPlace& p, float (&rows)[COLUMNS]) {
  const long long warp = (static_cast<long long>(blockIdx.x) - TOGETHER) * kWarps + p.warp;
  if (p.lane == 0) {
    await_flag(a.ready, warp);
  }
  __syncwarp();
  __threadfence();
  const float* const from = static_cast<const float*>(a.handed) + (32 * COLUMNS * warp + p.lane);
#pragma unroll
  for (int r = 0; r < COLUMNS; ++r) {
    rows[r] = __ldcg(&from[32 * r]);
  }
}

// By a launch before, a thread a flag.
inline __device__ void clear_flag(void* flags) {
  static_cast<int*>(flags)[blockIdx.x * blockDim.x + threadIdx.x] = 0;
}

}  // namespace
