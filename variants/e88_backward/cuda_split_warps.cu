// apo:variant    e88_backward/cuda_split_warps
// apo:target     cuda sm_80
// apo:technique  split-sequence
// apo:technique  warp-specialisation
// apo:technique  reused-state
// apo:technique  reduce-scatter
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:parent     cuda_best
// apo:idea       A block has one sequence: some warps replay a segment while others reverse the one after it, eight columns each; helpers prepare inputs and finish gradients.
// apo:predict    4x..7x over parent: 2 to 4 ms at b1_t16384_h83_n32; the replay leaves the chain, and a step has 150 to 250 cycles where one warp took 1,825.
// apo:requires   N == 32 && V == 32 && B*H <= 2147483647 && 223424 <= SHARED_MAX
// apo:tune       COLUMNS 8
// apo:tune       UNROLL 4,8
// apo:launch     backward grid=B*H block=2048/COLUMNS+128 shared=223424
#include "e88_backward.args.h"
#include "split_segments.cuh"

extern "C" __global__ void __launch_bounds__(2048 / COLUMNS + 32 * kHelpers) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  const int warp = uniform_warp();
  const ColumnPlace p(warp % kWarps, threadIdx.x % 32);
  const long long sequence = blockIdx.x;
  const bool reverses = warp / kWarps == 1;
  float D[COLUMNS];
  if (reverses) {
    load_own(p, a.d_s_final + sequence * kState, D);
  }
  take_segments(a, *reinterpret_cast<Work*>(shared), warp, p, sequence, (a.T - 1) / kSegment, 0, D);
  if (reverses) {
    store_own(p, D, a.ds0 + sequence * kState);
  }
}
