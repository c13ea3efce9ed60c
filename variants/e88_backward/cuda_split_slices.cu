// apo:variant    e88_backward/cuda_split_slices
// apo:target     cuda sm_80
// apo:technique  persistent-grid
// apo:technique  split-sequence
// apo:technique  warp-specialisation
// apo:technique  reused-state
// apo:technique  reduce-scatter
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:parent     cuda_split_warps
// apo:idea       A block of cuda_split_warps fills an SM, and sequences do not divide by SMs: 336 of them on 132 are three rounds, the third half full. Each block takes an equal stretch of all segments instead, as in cuda_time_slices.
// apo:predict    1.10x..1.18x over parent: 1.1 to 1.3 ms at b4_t2048_h84_n32; 336 * 128 / 132 = 326 segments and three times 3 to fill and empty the block, where three rounds are 393.
// apo:requires   N == 32 && V == 32 && B*H <= 2147483647 && T <= 2147483647 && SMS >= TOGETHER && 223424 <= SHARED_MAX
// apo:tune       COLUMNS 8
// apo:tune       UNROLL 4,8
// apo:tune       TOGETHER 1,4
// apo:scratch    handed 4096*TOGETHER*min(ceil_div(B*H,TOGETHER),SMS/TOGETHER)
// apo:scratch    ready 16*TOGETHER*min(ceil_div(B*H,TOGETHER),SMS/TOGETHER)
// apo:launch     clear grid=TOGETHER*min(ceil_div(B*H,TOGETHER),SMS/TOGETHER) block=4
// apo:launch     backward grid=TOGETHER*min(ceil_div(B*H,TOGETHER),SMS/TOGETHER) block=2048/COLUMNS+128 shared=223424
#include "e88_backward.args.h"
#include "split_segments.cuh"
#include "split_slices.cuh"

extern "C" __global__ void clear(const e88_backward_args a) {
  clear_flag(a.ready);
}

extern "C" __global__ void __launch_bounds__(2048 / COLUMNS + 32 * kHelpers) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  const int warp = uniform_warp();
  const ColumnPlace p(warp % kWarps, threadIdx.x % 32);
  const bool reverses = warp / kWarps == 1;
  Piece piece;
#pragma unroll 1
  for (int turn = 0; take_piece(a, turn, piece); ++turn) {
    if (piece.sequence >= a.B * a.H) {
      continue;
    }
    float D[COLUMNS];
    if (reverses && piece.is_begun) {
      await_rows(a, p, D);
    } else if (reverses) {
      load_own(p, a.d_s_final + piece.sequence * kState, D);
    }
    take_segments(a, *reinterpret_cast<Work*>(shared), warp, p, piece.sequence, piece.from, piece.to, D);
    if (reverses && piece.is_left) {
      leave_rows(a, p, D);
    } else if (reverses) {
      store_own(p, D, a.ds0 + piece.sequence * kState);
    }
  }
}
