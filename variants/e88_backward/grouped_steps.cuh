// grouped_steps.cuh - backward of a state of 32 x 32 by one warp whose loads are grouped: the steps, what is left of
// eight, and the segments of a sequence.
#pragma once
#include "grouped_loads.cuh"
#include "lane_tiles.cuh"

namespace {

// What a warp keeps in shared memory for half a segment. finish() needs k and q again as they came, and would wait for
// memory: for all that was asked for before it uses them.
struct Work {
  uint4 history[kHalf][4][32];  // S_{t-1} in fp16, as the lanes hold it
  float k[kHalf][kSide], q[kHalf][kSide], dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf], k_factor[kHalf], q_factor[kHalf];
  uint4 raw_k[32], raw_q[32];
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

inline __device__ void finish(const e88_backward_args& a, const Work& w, int lane, const Slice& z) {
  finish_gradient(w.raw_k[lane], &w.k[z.step][z.part], w.k_factor[z.step], a.dk, z);
  finish_gradient(w.raw_q[lane], &w.q[z.step][z.part], w.q_factor[z.step], a.dq, z);
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

// A state on its way from memory.
struct RawTile {
  uint2 rows[8];
};

template <class Place>
__device__ RawTile fetch_tile(const Place& p, const bf16* from) {
  RawTile raw;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    raw.rows[r] = *reinterpret_cast<const uint2*>(from + p.row(r) * kSide + p.first_column());
  }
  return raw;
}

inline __device__ void unpack(const RawTile& raw, Tile& S) {
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    S[r][0] = low(raw.rows[r].x);
    S[r][1] = high(raw.rows[r].x);
    S[r][2] = low(raw.rows[r].y);
    S[r][3] = high(raw.rows[r].y);
  }
}

// Where the states of the lower half wait in memory, in the form of Work::history, and their deltas.
struct Below {
  uint4 (*states)[4][32];
  float (*deltas)[kSide];
  __device__ Below(const e88_backward_args& a, long long place)
      : states(static_cast<uint4 (*)[4][32]>(a.states) + place * kHalf),
        deltas(static_cast<float (*)[kSide]>(a.deltas) + place * kHalf) {}
};

// The steps of half a segment; leaves S_{t-1} and delta of each for the reverse steps, in shared memory where
// `resident`. What the next step retrieves is summed as soon as tanh delivers.
inline __device__ void replay(Work& w, const TilePlace& p, const Below& below, int steps, bool resident, Tile& S) {
  float k[8], retrieved[4];
  load_rows(p, w.k[0], k);
  partial_sums(S, k, retrieved);
  // Wherever these are: addresses that grow by a constant take no branch and a few instructions a step less.
  uint4* kept = resident ? &w.history[0][0][p.lane] : &below.states[0][0][p.lane];
  float4* deltas = reinterpret_cast<float4*>((resident ? w.delta[0] : below.deltas[0]) + 4 * p.column);
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    float v[4], delta[4], next_k[8];
    load_columns(p, w.delta[s], v);
    load_rows(p, w.k[s], k);
    load_rows(p, w.k[min(s + 1, kHalf - 1)], next_k);
    const float decay = w.decay[s];
    add_lanes(retrieved, 1);
    add_lanes(retrieved, 2);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      delta[c] = v[c] - retrieved[c];
      retrieved[c] = 0;
    }
    __syncwarp();  // every lane has read its v
#pragma unroll
    for (int r = 0; r < 8; r += 2) {
      kept[16 * r] = make_uint4(pack_half(S[r][0], S[r][1]), pack_half(S[r][2], S[r][3]),
                                pack_half(S[r + 1][0], S[r + 1][1]), pack_half(S[r + 1][2], S[r + 1][3]));
    }
    kept += 128;
    if (p.group == 0) {
      *deltas = make_float4(delta[0], delta[1], delta[2], delta[3]);
    }
    deltas += kSide / 4;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        S[r][c] = tanh_approx(decay * S[r][c] + k[r] * delta[c]);
        retrieved[c] += S[r][c] * next_k[r];
      }
    }
  }
}

// Fetches the lower half's states of step s into their place, which is free.
inline __device__ void refill(Work& w, const TilePlace& p, const Below& below, int s) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&w.history[s][i][p.lane]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(&below.states[s][i][p.lane]) : "memory");
  }
}

inline __device__ void reverse(Work& w, const TilePlace& p, const Below& below, int steps, bool refills, Tile& S,
                               Tile& D) {
  float dk[8] = {};
  for (int s = steps; s < kHalf && refills; ++s) {
    refill(w, p, below, s);
  }
#pragma unroll 1
  for (int s = steps - 1; s >= 0; --s) {
    uint4 before[4];
    load_history(w, p, s, before);
    if (refills) {
      refill(w, p, below, s);
    }
    reverse_step(w, p, s, s == steps - 1, before, S, D, dk);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
  leave_first_key(w, p, dk);
}

// Turns D = dL/dS behind the step `last` + kSegment - 1 of a sequence into dL/dS before the step `end`; both are the
// first steps of segments.
inline __device__ void reverse_segments(const e88_backward_args& a, Work& w, const TilePlace& p, const Below& below,
                                        long long sequence, int last, int end, Tile& D) {
  const long long row_of_first = sequence / a.H * a.T * a.H + sequence % a.H;
  const auto slice_of = [&](int first) {
    return Slice(a, p.lane, row_of_first + first * a.H, min(kHalf, static_cast<int>(a.T) - first));
  };
  const auto checkpoint = [&](int first) { return a.checkpoints + (first / kSegment * a.B * a.H + sequence) * kState; };
  Tile S;
  RawTile raw = fetch_tile(p, checkpoint(last));
  Keys keys = fetch_keys(a, slice_of(last));
  Others others;
  Eight deltas;
  for (int first = last; first >= end; first -= kSegment) {
    const int steps = min(kSegment, static_cast<int>(a.T) - first);
    const Slice lower = slice_of(first);
    if (first > end) {
      prefetch_segment(a, p.lane, row_of_first + (first - kSegment) * a.H, checkpoint(first - kSegment));
    }
    unpack(raw, S);
    // Shared memory holds the states of half a segment; those of the lower half wait in memory until the upper half is
    // done with its place.
    const int top = steps > kHalf ? 1 : 0;
#pragma unroll 1
    for (int half = top; half >= 0; --half) {
      const int count = min(kHalf, steps - half * kHalf);
      const Slice slice = slice_of(first + half * kHalf);
      if (half == top) {
#pragma unroll 1
        for (int part = 0; part <= top; ++part) {
          deposit(keys, w, slice_of(first + part * kHalf));
          w.raw_k[p.lane] = keys.k;
          __syncwarp();
          if (part < top) {
            keys = fetch_keys(a, slice);
          } else {
            others = fetch_others(a, slice);
          }
          replay(w, p, below, min(kHalf, steps - part * kHalf), part == top, S);
          __syncwarp();
        }
      } else {
        deposit(keys, w, slice);
        w.raw_k[p.lane] = keys.k;
        store_eight(deltas, &w.delta[slice.step][slice.part]);
        asm volatile("cp.async.wait_group 0;" ::: "memory");
      }
      deposit(a, others, w, slice);
      w.raw_q[p.lane] = others.q;
      __syncwarp();
      reverse(w, p, below, count, half > 0, S, D);
      __syncwarp();
      if (half > 0) {
        keys = fetch_keys(a, lower);
        others = fetch_others(a, lower);
        deltas = load_eight(&below.deltas[lower.step][lower.part]);
      } else if (first > end) {
        raw = fetch_tile(p, checkpoint(first - kSegment));
        keys = fetch_keys(a, slice_of(first - kSegment));
      }
      finish(a, w, p.lane, slice);
      __syncwarp();
    }
  }
}

}  // namespace
