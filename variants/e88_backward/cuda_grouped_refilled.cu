// apo:variant    e88_backward/cuda_grouped_refilled
// apo:target     cuda sm_80
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
// apo:parent     cuda_best
// apo:idea       A segment waits for memory seven times, some 2000 cycles each; its loads are asked for before a replay or together with others, and two waits are left. Each step is replayed once: the lower half's history waits in memory and returns by cp.async while the upper half is reversed.
// apo:predict    1.1x..1.3x over parent: alone on an SM a warp takes 1825 cycles a step, 950 of them in replay and reverse; the rest is preparing and finishing.
// apo:requires   N == 32 && V == 32 && SEQUENCES*21600 <= SHARED_MAX && B*H <= 2147483647 && T <= 2147483647
// apo:tune       SEQUENCES 4,2,1
// apo:scratch    states 16384*B*H
// apo:scratch    deltas 1024*B*H
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*21600
#include "e88_backward.args.h"
#include "grouped_steps.cuh"

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES, 1) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  const TilePlace p(threadIdx.x);
  const long long sequence = blockIdx.x * SEQUENCES + threadIdx.x / 32;
  if (sequence >= a.B * a.H) {
    return;  // warps never wait for one another
  }
  Tile D;
  load_tile(p, a.d_s_final + sequence * kState, D);
  reverse_segments(a, reinterpret_cast<Work*>(shared)[threadIdx.x / 32], p, Below(a, sequence), sequence,
                   static_cast<int>(a.T - 1) / kSegment * kSegment, 0, D);
  store_tile(p, D, a.ds0 + sequence * kState);
}
