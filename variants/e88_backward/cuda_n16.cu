// apo:variant    e88_backward/cuda_n16
// apo:target     cuda sm_80
// apo:technique  small-state
// apo:technique  reduce-scatter
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  register-owned
// apo:technique  fused-l2-norm
// apo:parent     cuda_reduce_scatter
// apo:idea       For states of at most 16 columns two sequences share a warp, a half each, so that no lane is idle.
// apo:predict    1.5x..2x over parent: twice the sequences an instruction, where N and V are at most 16.
// apo:requires   N <= 16 && V <= 16 && B*H <= 4294967294
// apo:scratch    history 2*B*H*16*N*V
// apo:launch     backward grid=ceil_div(B*H,2) block=32
#include "e88_backward.args.h"
#include "lane_columns.cuh"

// Lanes j and 16 + j own column j of two sequences; a lane past V holds zeros and takes part in the shuffles.
extern "C" __global__ void __launch_bounds__(32, kRows <= 32 ? 12 : 1) backward(const e88_backward_args a) {
  __shared__ float ks[2][kRows], qs[2][kRows], deltas[kSegment][32];
  const int lane = threadIdx.x % 16, half = threadIdx.x / 16;
  float *k = ks[half], *q = qs[half];
  const bool there = blockIdx.x * 2LL + half < a.B * a.H;  // where B*H is odd the last half repeats its neighbour
  const long long sequence = blockIdx.x * 2LL + (there ? half : 0), b = sequence / a.H, h = sequence % a.H;
  backward_by_columns<16>(a, sequence, b, h, lane, there, k, q, deltas, threadIdx.x);
}
