// apo:variant    e88_backward/cuda_grouped_products
// apo:target     cuda sm_80
// apo:technique  grouped-loads
// apo:technique  tensor-core
// apo:technique  parked-sums
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
// apo:idea       As cuda_grouped_again; its replays, one and a half a step, retrieve by fp16 products of the words that the history keeps, and sums of dq and dk are parked in that history.
// apo:predict    1.15x..1.30x over parent: 174 instructions a replayed step where 193 are in cuda_grouped_again (1.142x), and 402 a reverse step where 445 are: some 55 of 820 a step.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647 && SEQUENCES*BLOCKS <= 8
// apo:tune       SEQUENCES 1,2
// apo:tune       BLOCKS 8,4
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20576
#include "e88_backward.args.h"
#include "grouped_kernel.cuh"
#include "product_steps.cuh"

namespace {

struct Steps {
  static __device__ void deposit_keys(const Keys& in, ProductWork& w, const Slice& z) {
    w.units()[z.step].store(deposit(in, w, z), z.part);
  }
  static __device__ void deposit_others(const e88_backward_args& a, const Others& in, ProductWork& w, const Slice& z) {
    deposit(a, in, w, z);
  }
  // Leaves S_{t-1} and delta of each step in shared memory where it `keeps`.
  static __device__ void replay(ProductWork& w, const RowPlace& p, int steps, bool keeps, Tile& S) {
    replay_products(w, w.units(), p, steps, S, [&](int s, const Packed& states, const float(&delta)[4]) {
      if (keeps) {
        keep_packed(w.history[s], w.delta[s], p, states, delta);
      }
    });
  }

  static __device__ void reverse(ProductWork& w, const RowPlace& p, int steps, Tile& S, Tile& D) {
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {
      Packed before;
      load_packed(w.history[s], p.lane, before);
      reverse_parked(w, p, s, before, S, D);
    }
  }

  static __device__ void finish(const e88_backward_args& a, const ProductWork& w, int lane, const Slice& z) {
    finish_parked(a, w, lane, z);
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES, BLOCKS) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_grouped<Steps>(a, reinterpret_cast<ProductWork*>(shared)[threadIdx.x / 32]);
}
