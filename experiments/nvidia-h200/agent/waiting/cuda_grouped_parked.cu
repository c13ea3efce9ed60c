// apo:variant    e88_backward/cuda_grouped_parked
// apo:target     cuda sm_80
// apo:technique  grouped-loads
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
// apo:idea       As cuda_grouped_again, with sums of dq and dk parked in the history as in cuda_parked_sums: retrieval stays with shuffles, since fp16 products of it lost 6 % at b16.
// apo:predict    1.14x..1.22x over parent: cuda_grouped_again is 1.142x and cuda_parked_sums 1.0275x the speed of cuda_best; the parts of a step that both shorten do not overlap.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647 && SEQUENCES*BLOCKS <= 8
// apo:tune       SEQUENCES 1,2
// apo:tune       BLOCKS 8,4
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20576
#include "e88_backward.args.h"
#include "grouped_kernel.cuh"

namespace {

struct Steps {
  static __device__ void deposit_keys(const Keys& in, ParkedWork& w, const Slice& z) { deposit(in, w, z); }
  static __device__ void deposit_others(const e88_backward_args& a, const Others& in, ParkedWork& w, const Slice& z) {
    deposit(a, in, w, z);
  }
  // Leaves S_{t-1} and delta of each step in shared memory where it `keeps`.
  static __device__ void replay(ParkedWork& w, const RowPlace& p, int steps, bool keeps, Tile& S) {
    replay_parked(w, p, steps, S, [&](int s, const Packed& states, const float(&delta)[4]) {
      if (keeps) {
        keep_packed(w.history[s], w.delta[s], p, states, delta);
      }
    });
  }

  static __device__ void reverse(ParkedWork& w, const RowPlace& p, int steps, Tile& S, Tile& D) {
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {
      Packed before;
      load_packed(w.history[s], p.lane, before);
      reverse_parked(w, p, s, before, S, D);
    }
  }

  static __device__ void finish(const e88_backward_args& a, const ParkedWork& w, int lane, const Slice& z) {
    finish_parked(a, w, lane, z);
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES, BLOCKS) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_grouped<Steps>(a, reinterpret_cast<ParkedWork*>(shared)[threadIdx.x / 32]);
}
