// apo:variant    e88_backward/cuda_multi_head
// apo:target     cuda sm_80
// apo:technique  multi-head
// apo:technique  reduce-scatter
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  register-owned
// apo:technique  fused-l2-norm
// apo:parent     cuda_reduce_scatter
// apo:idea       SEQUENCES warps a block, each with a sequence of its own whatever H is: fewer blocks to launch, no limit of 32 blocks an SM.
// apo:predict    0.95x..1.05x over parent: 10 sequences an SM never meet the block limit, and coarser blocks balance worse.
// apo:requires   N <= 64 && V <= 32 && B*H <= 2147483647
// apo:tune       SEQUENCES 4,2,8
// apo:scratch    history 2*B*H*16*N*V
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES
#include "e88_backward.args.h"
#include "lane_columns.cuh"

// Lane j owns column j; a lane past V holds zeros, writes nothing and takes part in the shuffles.
extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) backward(const e88_backward_args a) {
  __shared__ float ks[SEQUENCES][kRows], qs[SEQUENCES][kRows], all_deltas[SEQUENCES][kSegment][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long sequence = blockIdx.x * SEQUENCES + warp, b = sequence / a.H, h = sequence % a.H;
  if (sequence >= a.B * a.H) {
    return;  // warps never wait for one another
  }
  backward_by_columns<32>(a, sequence, b, h, lane, true, ks[warp], qs[warp], all_deltas[warp], lane);
}
