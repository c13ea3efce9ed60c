// apo:variant    e88_backward/cuda_paired_warps
// apo:target     cuda sm_80
// apo:technique  paired-warps
// apo:technique  lane-tiling
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  reduce-scatter
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:parent     cuda_lane_tiling
// apo:idea       Two warps share a sequence, 16 columns each: the replay needs no exchange, the sums of dq, dk and ddecay meet in shared memory one step late.
// apo:predict    1.1x..1.4x over parent: twice the warps hide the latency that leaves some 40% of issue slots empty, for 15% more instructions.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20512 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       SEQUENCES 11,7,5,4,2,1
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=64*SEQUENCES shared=SEQUENCES*20512
#include "e88_backward.args.h"
#include "lane_tiles.cuh"

namespace {

// What two warps keep in shared memory for half a segment. dk^, dq^ and dv replace k^, q^ and dy of a step once both
// have used them, and the lanes' parts of ddecay replace delta.
struct Work {
  uint4 history[kHalf][2][2][32];  // S_{t-1} in fp16, as the lanes of either warp hold it
  float k[kHalf][kSide], q[kHalf][kSide], dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf];
  template <class Place>
  __device__ uint4& kept(const Place& p, int s, int word) {
    return history[s][p.warp][word][p.lane];
  }
};

// Of the columns 16w..16w+15 of warp w, lane (g, c), g = lane % 4 and c = lane / 4, owns rows 8g..8g+7 of columns 2c,
// 2c+1.
using PairTile = float[8][2];

struct Place {
  int lane, warp, group, column;  // the lane's first column
  int swap;  // lanes of the upper half hold the two halves of their rows in reverse order, which saves selects
  __device__ explicit Place(int thread)
      : lane(thread % 32), warp(thread / 32 % 2), group(lane % 4), column(16 * warp + lane / 4 * 2), swap(lane / 16) {}
  __device__ int row(int r) const { return 8 * group + (r ^ (4 * swap)); }
  __device__ int summed_row() const { return 8 * group + lane / 4; }  // the one of scatter_rows
};

__device__ void load_tile(const Place& p, const bf16* from, PairTile& S) {
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const unsigned pair = *reinterpret_cast<const unsigned*>(from + p.row(r) * kSide + p.column);
    S[r][0] = low(pair);
    S[r][1] = high(pair);
  }
}

__device__ void store_tile(const Place& p, const PairTile& S, bf16* to) {
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    *reinterpret_cast<unsigned*>(to + p.row(r) * kSide + p.column) = pack(S[r][0], S[r][1]);
  }
}

__device__ void load_columns(const Place& p, const float* from, float (&x)[2]) {
  const float2 two = *reinterpret_cast<const float2*>(from + p.column);
  x[0] = two.x;
  x[1] = two.y;
}

__device__ void store_columns(const Place& p, const float (&x)[2], float* to) {
  *reinterpret_cast<float2*>(to + p.column) = make_float2(x[0], x[1]);
}

// The two warps of a sequence wait for each other.
__device__ void pair_barrier() {
  asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 64 + 1) : "memory");
}

__device__ void add_sums(Work& w, const Place& p, int s, const Sums& sums) {
  w.q[s][p.summed_row()] += sums.dq;
  w.k[s][p.summed_row()] += sums.dk;
  w.delta[s][p.lane] += sums.d_decay;
}

// Leaves the step's gradients in `w`. Warp 0 writes its sums, and warp 1 adds its own one barrier later, so they wait
// in `waiting`.
__device__ void reverse_step(Work& w, const Place& p, int s, bool is_last, PairTile& S, PairTile& D, Sums& waiting) {
  float d_delta[2];
  const Sums sums = reverse_tile(w, p, s, S, D, d_delta);
  pair_barrier();  // both warps have read their share of the step
  if (p.warp == 0) {
    w.q[s][p.summed_row()] = sums.dq;
    w.k[s][p.summed_row()] = sums.dk;
    w.delta[s][p.lane] = sums.d_decay;
  } else if (!is_last) {
    add_sums(w, p, s + 1, waiting);
  }
  waiting = sums;
  if (p.group == 0) {
    store_columns(p, d_delta, w.dy[s]);
  }
}

__device__ void finish(const e88_backward_args& a, const Work& w, const Slice& z, int warp) {
  if (warp == 1) {
    finish_gradient(a.q, &w.q[z.step][z.part], a.dq, z);
    finish_values(a, w, z);
    return;
  }
  finish_gradient(a.k, &w.k[z.step][z.part], a.dk, z);
  finish_decay(a, w, z);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(64 * SEQUENCES) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  Work& w = reinterpret_cast<Work*>(shared)[threadIdx.x / 64];
  const Place p(threadIdx.x);
  const long long sequence = blockIdx.x * SEQUENCES + threadIdx.x / 64, b = sequence / a.H, h = sequence % a.H;
  if (sequence >= a.B * a.H) {
    return;  // only the two warps of a sequence ever wait for each other
  }
  PairTile S, D;
  load_tile(p, a.d_s_final + sequence * kState, D);
  for (long long first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    if (first > 0 && p.warp == 0) {
      prefetch_segment(a, p.lane, (b * a.T + first - kSegment) * a.H + h,
                       a.checkpoints + ((first / kSegment - 1) * a.B * a.H + sequence) * kState);
    }
    // The states of half a segment fit; those of the lower half are replayed twice.
    for (int half = steps > kHalf ? 1 : 0; half >= 0; --half) {
      load_tile(p, a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState, S);
      const int count = min(kHalf, steps - half * kHalf);
      const long long row = (b * a.T + first + half * kHalf) * a.H + h;
      const Slice slice(a, p.lane, row, count);
      for (int part = 0; part <= half; ++part) {
        const long long part_row = (b * a.T + first + part * kHalf) * a.H + h;
        const int part_steps = part == half ? count : kHalf;
        if (p.warp == 0) {
          prepare_keys(a, w, Slice(a, p.lane, part_row, part_steps));
        } else if (part == half) {
          prepare_reverse<logistic_by_division>(a, w, slice);
        }
        pair_barrier();
        replay(w, p, part_steps, part == half, S);
        pair_barrier();
      }
      Sums waiting = {};
#pragma unroll 1
      for (int s = count - 1; s >= 0; --s) {
        reverse_step(w, p, s, s == count - 1, S, D, waiting);
      }
      pair_barrier();
      if (p.warp == 1) {
        add_sums(w, p, 0, waiting);
      }
      pair_barrier();
      finish(a, w, slice, p.warp);
      pair_barrier();
    }
  }
  store_tile(p, D, a.ds0 + sequence * kState);
}
