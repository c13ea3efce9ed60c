// time_slices.cuh - equal stretches of work for all warps that the GPU holds at once, where sequences do not divide by
// them. A sequence that two warps share is handed over once: its later warp has other work first, and it waits for a block
// of a smaller index only, which began before it did.
#pragma once
#include "lane_tiles.cuh"

namespace {

// The warps that the GPU holds, TOGETHER of them in a row: these have sequences that lie beside each other in memory, and
// are at the same step of them. A stretch is what one such row takes of the segments of all rows of sequences, the last
// segment of a sequence first.
struct Stretch {
  long long segments;  // of a sequence
  long long begin, end;
  __device__ explicit Stretch(const e88_backward_args& a) : segments((a.T + kSegment - 1) / kSegment) {
    const long long all = (a.B * a.H + TOGETHER - 1) / TOGETHER * segments;
    const long long row = blockIdx.x / TOGETHER, rows = gridDim.x / TOGETHER;
    begin = row * all / rows;
    end = (row + 1) * all / rows;
  }
};

// A part of one sequence: segments from `from` down to `to`.
struct Piece {
  long long sequence;
  int from, to;
  bool is_begun, is_left;  // before it, after it: by another warp
};

// The piece that a warp takes in turn `turn`; false behind the last. What another warp waits for comes first, and what
// waits for another warp last: no warp has less to do than the segments of one sequence, so that nobody waits long. Not
// inlined: a step needs all registers, and this is done a few times in all.
__device__ __noinline__ bool take_piece(const e88_backward_args& a, int turn, Piece& piece) {
  const Stretch z(a);
  const long long whole = (z.begin + z.segments - 1) / z.segments, behind = z.end / z.segments;
  const int late = z.end % z.segments != 0 ? 1 : 0, early = z.begin % z.segments != 0 ? 1 : 0;
  const int last = z.segments - 1;
  long long row = whole - 1;
  if (turn < late) {
    row = behind;
    piece = {0, last, static_cast<int>(z.segments - z.end % z.segments), false, true};
  } else if (turn - late < behind - whole) {
    row = whole + turn - late;
    piece = {0, last, 0, false, false};
  } else {
    piece = {0, static_cast<int>(last - z.begin % z.segments), 0, true, false};
  }
  piece.sequence = row * TOGETHER + blockIdx.x % TOGETHER;
  return turn < late + (behind - whole) + early;
}

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
    atomicExch(static_cast<int*>(a.ready) + blockIdx.x, 1);
  }
}

__device__ void await_tile(const e88_backward_args& a, int lane, Tile& D) {
  const long long warp = blockIdx.x - TOGETHER;
  if (lane == 0) {
    while (atomicAdd(static_cast<int*>(a.ready) + warp, 0) == 0) {
      __nanosleep(200);
    }
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
