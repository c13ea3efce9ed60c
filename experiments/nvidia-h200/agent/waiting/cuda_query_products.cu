// apo:variant    e88_backward/cuda_query_products
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
// apo:idea       As cuda_grouped_products; dq of eight steps are fp16 products of the history, read back transposed by ldmatrix, with the two halves of dy: no sum of theirs is left in the reverse.
// apo:predict    1.10x..1.28x over parent: 370 instructions a reverse step where 402 are in cuda_grouped_products, 27 for dq beside it, 8 around: no fewer, but out of the chain.
// apo:requires   N == 32 && V == 32 && SEQUENCES*24704 <= SHARED_MAX && B*H <= 2147483647 && SEQUENCES*BLOCKS <= 8
// apo:tune       SEQUENCES 1,2
// apo:tune       BLOCKS 8,4
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*24704
#include "e88_backward.args.h"
#include "grouped_kernel.cuh"
#include "product_steps.cuh"

namespace {

// What a warp keeps in shared memory for half a segment.
struct Work {
  uint4 history[kHalf + 1][4 * 32];  // S_{t-1} in fp16, and S of the last step; then parts of dk^
  HalfVector half_dy[kHalf];         // dy times a power of two
  float k[kHalf][kSide];
  alignas(16) float q[kHalf][kSide];  // while steps are replayed: k^ in fp16
  float dy[kHalf][kSide], delta[kHalf][kSide], dq[kHalf][kSide];
  float decay[kHalf], k_factor[kHalf], q_factor[kHalf], dy_unit[kHalf];
  __device__ HalfVector* units() { return reinterpret_cast<HalfVector*>(q); }
};
static_assert(sizeof(HalfVector) == sizeof(float[kSide]) && sizeof(Work) <= 24704);

// Where rows 8 group.. of column 4 column + c stand in the history of a step. Each four lanes that write together, and
// the rows of each matrix that ldmatrix reads, are in different banks.
__device__ int place_of(int c, int column, int group) {
  return 32 * c + column / 2 * 8 + (column ^ c) % 2 * 4 + (group ^ column / 2);
}

__device__ int place_of(int c, const RowPlace& p) {
  return place_of(c, p.column, p.group);
}

__device__ void keep_state(uint4* to, const RowPlace& p, const Packed& states) {
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    to[place_of(c, p)] = states[c];
  }
}

// The power of two that brings the largest of the row's entries to 2^13..2^14, and its inverse.
__device__ float half_scale(const Eight& x, float& inverse) {
  float largest = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    largest = fmaxf(largest, fabsf(x.x[i]));
  }
  largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 1));
  largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, 2));
  const int exponent = min(267 - static_cast<int>(__float_as_uint(largest) >> 23), 253);
  inverse = __uint_as_float(static_cast<unsigned>(254 - exponent) << 23);
  return __uint_as_float(static_cast<unsigned>(exponent) << 23);
}

__device__ void load_transposed_halves(unsigned (&to)[4], const uint4* row) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

// dq^ = S_t dy of all steps. Row r of the 8 x 8 matrix number m along a row of S is column 8 (r / 2) + 2 m + r % 2 of
// S, so that lane t = lane % 4 meets columns 8t..8t+7 of dy. Products of 16 rows; lane t keeps rows 8t..8t+7.
__device__ void sum_queries(Work& w, const RowPlace& p, int steps) {
  const int matrix = p.lane / 8, row = p.lane % 8;
#pragma unroll 2
  for (int s = 0; s < steps; ++s) {
    const uint4 dy = w.half_dy[s].operand();
    float sums[2][4] = {};
#pragma unroll
    for (int m = 0; m < 2; ++m) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        unsigned a[4];
        load_transposed_halves(
            a, &w.history[s + 1][place_of(matrix / 2 * 2 + row % 2, row / 2 * 2 + n, 2 * m + matrix % 2)]);
        multiply_halves(sums[m], a, n == 0 ? dy.x : dy.z, n == 0 ? dy.y : dy.w);
      }
    }
    const float(&own)[4] = sums[0];
    const float(&other)[4] = sums[1];
    const float low_rows = p.group == 0 ? own[0] + own[1] : own[2] + own[3];
    const float high_rows = p.group == 2 ? other[0] + other[1] : other[2] + other[3];
    w.dq[s][8 * p.group + p.column] = (p.group < 2 ? low_rows : high_rows) * w.dy_unit[s];
  }
}

// Turns D = dL/dS_t into dL/dS_{t-1} and S = S_t into S_{t-1}; parks the parts of dk^ where the history stood.
__device__ void reverse_step(Work& w, const RowPlace& p, int s, Tile& S, Tile& D) {
  float k[8], q[8], dy[4], delta[4];
  load_rows(p, w.k[s], k);
  load_rows(p, w.q[s], q);
  load_columns(p, w.dy[s], dy);
  load_columns(p, w.delta[s], delta);
  const float decay = w.decay[s];
  Packed before;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    before[c] = w.history[s][place_of(c, p)];
  }
  float dk[8] = {}, d_delta[4], d_decay = 0;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      D[r][c] = (D[r][c] + q[r] * dy[c]) * (1.0f - S[r][c] * S[r][c]);
      dk[r] += D[r][c] * delta[c];
    }
  }
  partial_sums(D, k, d_delta);
  add_lanes(d_delta, 1);
  add_lanes(d_delta, 2);
  recall_state(before, d_delta, D, S, dk, d_decay);
  leave_step(decay, k, d_delta, D);
  reinterpret_cast<float4&>(w.history[s][place_of(0, p)]) = make_float4(dk[0], dk[1], dk[2], dk[3]);
  reinterpret_cast<float4&>(w.history[s][place_of(1, p)]) = make_float4(dk[4], dk[5], dk[6], dk[7]);
  __syncwarp();  // every lane has read its share of the step
  leave_values(w, p, s, d_delta, d_decay);
}

struct Steps {
  static __device__ void deposit_keys(const Keys& in, Work& w, const Slice& z) {
    w.units()[z.step].store(deposit(in, w, z), z.part);
  }
  static __device__ void deposit_others(const e88_backward_args& a, const Others& in, Work& w, const Slice& z) {
    Eight dy = deposit(a, in, w, z);
    scale(dy, half_scale(dy, w.dy_unit[z.step]));
    w.half_dy[z.step].store(dy, z.part);
  }
  // Leaves S_{t-1} and delta of each step in shared memory where it `keeps`.
  static __device__ void replay(Work& w, const RowPlace& p, int steps, bool keeps, Tile& S) {
    replay_products(w, w.units(), p, steps, S, [&](int s, const Packed& states, const float(&delta)[4]) {
      if (keeps) {
        keep_state(w.history[s], p, states);
        if (p.group == 0) {
          *reinterpret_cast<float4*>(&w.delta[s][4 * p.column]) = make_float4(delta[0], delta[1], delta[2], delta[3]);
        }
      }
    });
    if (keeps) {
      Packed states;
      pack_tile(S, states);
      keep_state(w.history[steps], p, states);
    }
  }

  static __device__ void reverse(Work& w, const RowPlace& p, int steps, Tile& S, Tile& D) {
    sum_queries(w, p, steps);
    __syncwarp();  // the history is read
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {
      reverse_step(w, p, s, S, D);
    }
  }

  static __device__ void finish(const e88_backward_args& a, const Work& w, int lane, const Slice& z) {
    const uint4* const step = w.history[z.there ? z.step : 0];  // what no step has written is not read
    Eight dk = {};
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      const int column = c ^ (lane / 4 % 2);  // neighbouring steps start in other banks
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float4 x = reinterpret_cast<const float4&>(step[place_of(i, column, lane % 4)]);
        dk.x[4 * i] += x.x;
        dk.x[4 * i + 1] += x.y;
        dk.x[4 * i + 2] += x.z;
        dk.x[4 * i + 3] += x.w;
      }
    }
    finish_unit(&w.k[z.step][z.part], dk, w.k_factor[z.step], a.dk, z);
    finish_unit(&w.q[z.step][z.part], load_eight(&w.dq[z.there ? z.step : 0][z.part]), w.q_factor[z.step], a.dq, z);
    finish_values(a, w, z);
    finish_decay(a, w, z);
  }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES, BLOCKS) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  backward_grouped<Steps>(a, reinterpret_cast<Work*>(shared)[threadIdx.x / 32]);
}
