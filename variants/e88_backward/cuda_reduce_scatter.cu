// apo:variant    e88_backward/cuda_reduce_scatter
// apo:target     cuda sm_80
// apo:technique  reduce-scatter
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  register-owned
// apo:technique  fused-l2-norm
// apo:parent     cuda_reused_state
// apo:idea       dk and dq are summed by exchanges that halve the rows a lane still holds: 31 shuffles for 32 rows instead of 160.
// apo:predict    1.4x..2x over parent: 258 of some 380 shuffles a step go, for 124 selects.
// apo:requires   N <= 64 && V <= 32 && B*H <= 2147483647
// apo:scratch    history 2*B*H*16*N*V
// apo:launch     backward grid=B*H block=32
#include "e88_backward.args.h"
#include "lane_columns.cuh"

// Lane j owns column j; a lane past V holds zeros, writes nothing and takes part in the shuffles.
extern "C" __global__ void __launch_bounds__(32, kRows <= 32 ? 12 : 1) backward(const e88_backward_args a) {
  __shared__ float k[kRows], q[kRows], deltas[kSegment][32];
  const int lane = threadIdx.x;
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  backward_by_columns<32>(a, sequence, b, h, lane, true, k, q, deltas, lane);
}
