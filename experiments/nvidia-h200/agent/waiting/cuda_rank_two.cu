// apo:variant    e88_backward/cuda_rank_two
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  rank-two-update
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
// apo:idea       Between two steps dS takes -k d_delta^T and q dy^T at once: eight tf32 products which hold the upper and lower parts of both, 22 bits; else as cuda_retrieval_products.
// apo:predict    0.93x..1.10x over parent: 195 + 409 instructions in the two loops where 213 + 464 are, 27 more a step around them; products wait some 35 cycles in the chain of the reverse.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       SEQUENCES 11,7,4,2,1
// apo:scratch    states 16384*B*H
// apo:scratch    deltas 1024*B*H
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20576
#include "e88_backward.args.h"
#include "product_steps.cuh"

namespace {

// d += a b by mma.m16n8k8
__device__ void multiply(float& d0, float& d1, float& d2, float& d3, const float (&a)[4], float b0, float b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}

// x, of which a tf32 operand keeps the upper 11 bits, or where `mask` selects these, what it cuts off.
__device__ float part_of(float x, unsigned mask) {
  return x - __uint_as_float(__float_as_uint(x) & mask);
}

// The two updates as one product: its inner index t is upper x upper, lower x upper, upper x lower and lower x lower
// part of x1 y1^T in lanes t = lane % 4, and t + 4 of x2 y2^T. Rows of the result are columns of D, and its columns
// 2t, 2t+1 of product n are the lane's rows n and n + 4.
__device__ void add_products(const RowPlace& p, const float (&x1)[4], const float (&x2)[4], const float* y1,
                             const float* y2, Tile& D) {
  const unsigned left = p.lane & 1 ? 0xffffe000u : 0, right = p.lane & 2 ? 0xffffe000u : 0;
  const float4 one = *reinterpret_cast<const float4*>(y1 + 4 * p.column);
  const float4 two = *reinterpret_cast<const float4*>(y2 + 4 * p.column);
  const float b1[4] = {part_of(one.x, right), part_of(one.y, right), part_of(one.z, right), part_of(one.w, right)};
  const float b2[4] = {part_of(two.x, right), part_of(two.y, right), part_of(two.z, right), part_of(two.w, right)};
#pragma unroll
  for (int m = 0; m < 2; ++m) {
    const float a[4] = {part_of(x1[2 * m], left), part_of(x1[2 * m + 1], left), part_of(x2[2 * m], left),
                        part_of(x2[2 * m + 1], left)};
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      multiply(D[n][2 * m], D[n + 4][2 * m], D[n][2 * m + 1], D[n + 4][2 * m + 1], a, b1[n], b2[n]);
    }
  }
}

// Turns D = dL/dS_t + q^_t dy_t^T into the same of the step before, whose q^ dy^T is left out at the first of a half.
__device__ void reverse_step(ProductWork& w, const RowPlace& p, int s, const Packed& before, Tile& S, Tile& D,
                             float (&dy)[4]) {
  float k[8], delta[4], earlier_dy[4];
  load_rows(p, w.k[s], k);
  load_columns(p, w.delta[s], delta);
  const int earlier = max(s - 1, 0);
  load_columns(p, w.dy[earlier], earlier_dy);
  const float decay = w.decay[s];
  float dq[8], dk[8], d_delta[4], d_decay = 0;
  back_through<false>(S, D, k, dy, delta, dq, dk);
  partial_sums(D, k, d_delta);
  park(w.history[s], 0, p.lane, dq);
  add_lanes(d_delta, 1);
  add_lanes(d_delta, 2);
  recall_state(before, d_delta, D, S, dk, d_decay);
  float lost[4];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    lost[c] = -d_delta[c];
    dy[c] = s > 0 ? earlier_dy[c] : 0.0f;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      D[r][c] *= decay;
    }
  }
  add_products(p, lost, dy, w.k[s], w.q[earlier], D);
  park(w.history[s], 2, p.lane, dk);
  __syncwarp();  // every lane has read its share of the step
  leave_values(w, p, s, d_delta, d_decay);
}

struct Steps : ProductSteps {
  static __device__ void reverse(ProductWork& w, const RowPlace& p, const Below& below, int steps, bool resident,
                                 Tile& S, Tile& D) {
    float q[8], dy[4];
    load_rows(p, w.q[steps - 1], q);
    load_columns(p, w.dy[steps - 1], dy);
#pragma unroll
    for (int r = 0; r < 8; ++r) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        D[r][c] += q[r] * dy[c];
      }
    }
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {
      Packed before;
      load_step(w, p, below, s, resident, before);
      reverse_step(w, p, s, before, S, D, dy);
    }
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_parked<Steps>(a, reinterpret_cast<ProductWork*>(shared)[threadIdx.x / 32]);
}
