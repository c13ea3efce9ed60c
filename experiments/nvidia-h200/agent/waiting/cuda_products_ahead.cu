// apo:variant    e88_backward/cuda_products_ahead
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  parked-sums
// apo:technique  loads-ahead
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
// apo:idea       As cuda_retrieval_products; the reverse asks for the state of a step one step ahead, so that no step waits for the half of the history that lies in memory.
// apo:predict    1.08x..1.25x over parent: 195 + 418 instructions in the two loops where 213 + 464 are, 21 more a step around them; of the waits for memory, 32% of the samples, most should go.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       SEQUENCES 11,7,4,2,1
// apo:scratch    states 16384*B*H
// apo:scratch    deltas 1024*B*H
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20576
#include "e88_backward.args.h"
#include "product_steps.cuh"

namespace {

struct Steps : ProductSteps {
  static __device__ void reverse(ProductWork& w, const RowPlace& p, const Below& below, int steps, bool resident,
                                 Tile& S, Tile& D) {
    const uint4(*const from)[4][32] = resident ? w.history : below.states;
    Packed next;
    load_packed(from[steps - 1], p.lane, next);
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {
      const Packed before = {next[0], next[1], next[2], next[3]};
      load_packed(from[max(s - 1, 0)], p.lane, next);
      reverse_parked(w, p, s, before, S, D);
    }
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_parked<Steps>(a, reinterpret_cast<ProductWork*>(shared)[threadIdx.x / 32]);
}
