// tile_slices.cuh - what a warp of cuda_time_slices hands over to the one that goes on with its sequence.
#pragma once
#include "lane_tiles.cuh"
#include "time_slices.cuh"

namespace {

// dL/dS between two pieces of a sequence, in the order of the lanes.
__device__ void leave_tile(const e88_backward_args& a, int lane, const Tile& D) {
  float4* const to = static_cast<float4*>(a.handed) + (256LL * blockIdx.x + lane);
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    to[32 * r] = make_float4(D[r][0], D[r][1], D[r][2], D[r][3]);
  }
  __threadfence();
  __syncwarp();
  if (lane == 0) {
    raise_flag(a.ready, blockIdx.x);
  }
}

__device__ void await_tile(const e88_backward_args& a, int lane, Tile& D) {
  const long long warp = blockIdx.x - TOGETHER;
  if (lane == 0) {
    await_flag(a.ready, warp);
  }
  __syncwarp();
  __threadfence();
  const float4* const from = static_cast<const float4*>(a.handed) + (256LL * warp + lane);
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const float4 row = __ldcg(&from[32 * r]);
    D[r][0] = row.x;
    D[r][1] = row.y;
    D[r][2] = row.z;
    D[r][3] = row.w;
  }
}

}  // namespace

extern "C" __global__ void clear(const e88_backward_args a) {
  static_cast<int*>(a.ready)[blockIdx.x] = 0;
}
