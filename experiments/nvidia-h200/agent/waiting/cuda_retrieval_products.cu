// apo:variant    e88_backward/cuda_retrieval_products
// apo:target     cuda sm_80
// apo:technique  tensor-core
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
// apo:idea       The replay retrieves by four fp16 products of the words that the history keeps anyway, whose results land in the lanes that need them; sums of dq and dk are parked.
// apo:predict    1.03x..1.12x over parent: 195 + 414 instructions in the two loops where 213 + 464 are, 19 more a step around them: some 49 of 760, and 8 shuffles a step where 30 are.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       SEQUENCES 11,7,4,2,1
// apo:scratch    states 16384*B*H
// apo:scratch    deltas 1024*B*H
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20576
#include "e88_backward.args.h"
#include "product_steps.cuh"

namespace {

// What a warp keeps in shared memory for half a segment.
struct Work {
  uint4 history[kHalf][4][32];  // S_{t-1} in fp16, as the lanes hold it; then parts of dq^ and dk^
  float k[kHalf][kSide];
  alignas(16) float q[kHalf][kSide];  // while steps are replayed: k^ in fp16
  float dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf], k_factor[kHalf], q_factor[kHalf];
  __device__ HalfVector* units() { return reinterpret_cast<HalfVector*>(q); }
};
static_assert(sizeof(HalfVector) == sizeof(float[kSide]));

struct Steps {
  static __device__ void prepare(const e88_backward_args& a, Work& w, const Slice& z) {
    prepare_keys(a, w, z);
    prepare_products(w, w.units(), z);
  }
  static __device__ void replay(Work& w, const RowPlace& p, const Below& below, int steps, bool resident, Tile& S) {
    replay_products(w, w.units(), p, steps, S, [&](int s, const Packed& states, const float(&delta)[4]) {
      if (resident) {
        keep_packed(w.history[s], w.delta[s], p, states, delta);
      } else {
        keep_packed(below.states[s], below.deltas[s], p, states, delta);
      }
    });
  }
  static __device__ void reverse(Work& w, const RowPlace& p, const Below& below, int steps, bool resident, Tile& S,
                                 Tile& D) {
    reverse_all_parked(w, p, below, steps, resident, S, D);
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_parked<Steps>(a, reinterpret_cast<Work*>(shared)[threadIdx.x / 32]);
}
