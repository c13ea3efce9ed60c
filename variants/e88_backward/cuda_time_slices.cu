// apo:variant    e88_backward/cuda_time_slices
// apo:target     cuda sm_80
// apo:technique  persistent-grid
// apo:technique  spilled-history
// apo:technique  cp-async
// apo:technique  lane-tiling
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  reduce-scatter
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:technique  multi-head
// apo:parent     cuda_grouped_refilled
// apo:idea       Sequences do not divide by the warps that the GPU holds: 1328 of them on 1056 are two rounds, the second a quarter full. Each warp takes an equal stretch of all segments instead: first the late part of a sequence, whose gradient it leaves for its successor, whole ones, then what its predecessor left of another.
// apo:predict    1.10x..1.23x over cuda_best: 1.05x to 1.18x over a kernel that is 1.045x as fast, since 8 sequences an SM take 19.2 us a segment at h386, and 1328 * 32 / 1056 = 40.2 segments of that are 774 us where it takes 897.
// apo:requires   N == 32 && V == 32 && SMS*BLOCKS >= TOGETHER && B*H <= 2147483647 && T <= 2147483647
// apo:tune       SEQUENCES 1
// apo:tune       BLOCKS 8
// apo:tune       TOGETHER 16,8,1
// apo:scratch    states 16384*TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER)
// apo:scratch    deltas 1024*TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER)
// apo:scratch    handed 4096*TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER)
// apo:scratch    ready 4*TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER)
// apo:launch     clear grid=TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER) block=1
// apo:launch     backward grid=TOGETHER*min(ceil_div(B*H,TOGETHER),SMS*BLOCKS/TOGETHER) block=32 shared=21600
#include "e88_backward.args.h"
#include "grouped_steps.cuh"
#include "tile_slices.cuh"

extern "C" __global__ void __launch_bounds__(32, BLOCKS) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  const TilePlace p(threadIdx.x);
  Piece piece;
#pragma unroll 1
  for (int turn = 0; take_piece(a, turn, piece); ++turn) {
    if (piece.sequence >= a.B * a.H) {
      continue;
    }
    Tile D;
    if (piece.is_begun) {
      await_tile(a, p.lane, D);
    } else {
      load_tile(p, a.d_s_final + piece.sequence * kState, D);
    }
    reverse_segments(a, reinterpret_cast<Work*>(shared)[0], p, Below(a, blockIdx.x), piece.sequence,
                     piece.from * kSegment, piece.to * kSegment, D);
    if (piece.is_left) {
      leave_tile(a, p.lane, D);
    } else {
      store_tile(p, D, a.ds0 + piece.sequence * kState);
    }
  }
}
