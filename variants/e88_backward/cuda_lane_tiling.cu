// apo:variant    e88_backward/cuda_lane_tiling
// apo:target     cuda sm_80
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
// apo:parent     cuda_register_owned
// apo:idea       A lane owns 8 x 4 of the state, so sums meet in 2 or 3 shuffles; half a segment of states stays in shared memory, vectors are prepared 8 steps at a time.
// apo:predict    3.8x..12x over parent: 2.2x..3.6x over its toggles, which give 1.7x..3.4x; 0.6..1.0 ms at b16_t512_h83_n32; some 720 issue slots a step, one tanh instruction for 16, no cache in memory.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20512 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       SEQUENCES 11,7,4,2,1
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20512
#include "e88_backward.args.h"
#include "lane_tiles.cuh"

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_by_tiles<TilePlace>(a, reinterpret_cast<TileWork*>(shared)[threadIdx.x / 32]);
}
