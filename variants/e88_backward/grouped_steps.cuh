// grouped_steps.cuh - the reverse step of a warp whose loads are grouped, and what is left of eight.
#pragma once
#include "grouped_loads.cuh"

namespace {

// What a warp keeps in shared memory for half a segment.
struct Work {
  uint4 history[kHalf][4][32];  // S_{t-1} in fp16, as the lanes hold it
  float k[kHalf][kSide], q[kHalf][kSide], dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf], k_factor[kHalf], q_factor[kHalf];
};

// dx = (dx^ - x^ (x^ . dx^)) f with x^ = f x and f = rsqrt(|x|^2 + epsilon)
inline __device__ void finish_gradient(const uint4& x, const float* gradient, float factor, bf16* dx, const Slice& z) {
  Eight d = load_eight(gradient);
  if (kNORM) {
    const Eight raw = unpack(x);
    const float along = dot(raw, d) * factor * factor * factor;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      d.x[i] = d.x[i] * factor - raw.x[i] * along;
    }
  }
  store_eight(d, dx + z.at, z.there);
}

inline __device__ void finish(const e88_backward_args& a, const Work& w, const uint4& k, const uint4& q, const Slice& z) {
  finish_gradient(k, &w.k[z.step][z.part], w.k_factor[z.step], a.dk, z);
  finish_gradient(q, &w.q[z.step][z.part], w.q_factor[z.step], a.dq, z);
  finish_values(a, w, z);
  finish_decay(a, w, z);
}

// One of the three exchanges that sum x[r] over the eight lanes that share the rows: kLeft values are left. After the
// last, x[0] is the sum of row 8 * group + column. What is kept in the first one stands in x[0..3] on either side: see
// TilePlace::swap.
template <int kLeft>
__device__ void exchange(const TilePlace& p, float (&x)[8]) {
  const bool upper = kLeft < 4 && (p.lane & (4 * kLeft));
#pragma unroll
  for (int r = 0; r < kLeft; ++r) {
    const float low_half = x[r], high_half = x[r + kLeft];
    x[r] = (upper ? high_half : low_half) + __shfl_xor_sync(kAll, upper ? low_half : high_half, 4 * kLeft);
  }
}

inline __device__ void keep(uint4 (*to)[32], float* delta, const TilePlace& p, const uint4 (&states)[4],
                     const float4& deltas) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[i][p.lane] = states[i];
  }
  if (p.group == 0) {
    *reinterpret_cast<float4*>(delta + 4 * p.column) = deltas;
  }
}

// Turns D = dL/dS_t into dL/dS_{t-1} and S = S_t into S_{t-1}; leaves the step's gradients in `w`, but for
// dk^: `dk` is that of the step after and is summed meanwhile. `before` is S_{t-1}.
inline __device__ void reverse_step(Work& w, const TilePlace& p, int s, bool is_last, const uint4 (&before)[4], Tile& S,
                             Tile& D, float (&dk)[8]) {
  float k[8], q[8], dy[4], delta[4];
  load_rows(p, w.k[s], k);
  load_rows(p, w.q[s], q);
  load_columns(p, w.dy[s], dy);
  load_columns(p, w.delta[s], delta);
  const float decay = w.decay[s];
  float dq[8], next_dk[8], d_delta[4], d_decay = 0;
  back_through_tanh(S, D, q, dy, delta, dq, next_dk);
  partial_sums(D, k, d_delta);
  add_lanes(d_delta, 1);
  exchange<4>(p, dq);
  exchange<4>(p, dk);
  add_lanes(d_delta, 2);
  exchange<2>(p, dq);
  exchange<2>(p, dk);
  exchange<1>(p, dq);
  exchange<1>(p, dk);
  back_to_state(before, decay, k, d_delta, S, D, next_dk, d_decay);
  __syncwarp();  // every lane has read its share of the step
  w.q[s][8 * p.group + p.column] = dq[0];
  if (!is_last) {
    w.k[s + 1][8 * p.group + p.column] = dk[0];
  }
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    dk[r] = next_dk[r];
  }
  w.delta[s][p.lane] = d_decay;
  if (p.group == 0) {
    *reinterpret_cast<float4*>(&w.dy[s][4 * p.column]) = make_float4(d_delta[0], d_delta[1], d_delta[2], d_delta[3]);
  }
}

// dk^ of the first step, which no later one sums.
inline __device__ void leave_first_key(Work& w, const TilePlace& p, float (&dk)[8]) {
  exchange<4>(p, dk);
  exchange<2>(p, dk);
  exchange<1>(p, dk);
  w.k[0][8 * p.group + p.column] = dk[0];
}

inline __device__ void load_history(const Work& w, const TilePlace& p, int s, uint4 (&before)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    before[i] = w.history[s][i][p.lane];
  }
}

}  // namespace
