// apo:variant    e88_backward/cuda_parked_sums
// apo:target     cuda sm_80
// apo:technique  parked-sums
// apo:technique  spilled-history
// apo:technique  lane-tiling
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:technique  multi-head
// apo:parent     cuda_best
// apo:idea       A lane parks its parts of dq and dk where the step's history stood, and they are summed once for eight steps: no shuffles for them, and the unit vectors stay for the norm.
// apo:predict    1.02x..1.09x over parent: 414 instructions a reverse step where 464 are, with 8 shuffles for 22, and 12 more a step to finish: some 40 of 760; latency of 14 shuffles goes too.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       SEQUENCES 11,7,4,2,1
// apo:scratch    states 16384*B*H
// apo:scratch    deltas 1024*B*H
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20576
#include "e88_backward.args.h"
#include "parked_sums.cuh"

namespace {

struct Steps : ParkedReverse {
  static __device__ void prepare(const e88_backward_args& a, ParkedWork& w, const Slice& z) { prepare_keys(a, w, z); }
  static __device__ void replay(ParkedWork& w, const RowPlace& p, const Below& below, int steps, bool resident,
                                Tile& S) {
    replay_parked(w, p, steps, S, [&](int s, const Packed& states, const float(&delta)[4]) {
      keep_step(w, p, below, s, resident, states, delta);
    });
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_parked<Steps>(a, reinterpret_cast<ParkedWork*>(shared)[threadIdx.x / 32]);
}
