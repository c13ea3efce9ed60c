// parked_sums.cuh - backward of a state of 32 x 32 by one warp, a tile of 8 rows and 4 columns a lane. No lane adds up
// dq^ and dk^ of a step with others: it parks its parts where the history of the step stood, and the sums are made when
// eight steps are done, by the lanes that need them.
#pragma once
#include "e88_tiles.cuh"
#include "eight_steps.cuh"
#include "lane_tiles.cuh"

namespace {

// Lane (g, c), g = lane % 4 and c = lane / 4, owns rows 8g..8g+7 and columns 4c..4c+3.
struct RowPlace {
  int lane, group, column;
  __device__ explicit RowPlace(int thread) : lane(thread % 32), group(lane % 4), column(lane / 4) {}
  __device__ int first_column() const { return 4 * column; }
  __device__ int row(int r) const { return 8 * group + r; }
};

// A lane's tile in fp16: a column a word group, pairs of rows.
using Packed = uint4[4];

inline __device__ void pack_tile(const Tile& S, Packed& to) {
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    to[c] = make_uint4(pack_half(S[0][c], S[1][c]), pack_half(S[2][c], S[3][c]), pack_half(S[4][c], S[5][c]),
                       pack_half(S[6][c], S[7][c]));
  }
}

inline __device__ void unpack_tile(const Packed& from, Tile& S) {
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const unsigned pairs[4] = {from[c].x, from[c].y, from[c].z, from[c].w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      S[2 * i][c] = half_low(pairs[i]);
      S[2 * i + 1][c] = half_high(pairs[i]);
    }
  }
}

// What a warp keeps in shared memory for half a segment.
struct ParkedWork {
  uint4 history[kHalf][4][32];  // S_{t-1} in fp16, as the lanes hold it; then parts of dq^ and dk^
  float k[kHalf][kSide], q[kHalf][kSide], dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf], k_factor[kHalf], q_factor[kHalf];
};

// P' = (D + q^ dy^T) (1 - S_t^2) in place of D, where `kAdds`; else D has q^ dy^T already. Parts of dq^ and dk^.
template <bool kAdds>
__device__ void back_through(const Tile& S, Tile& D, const float (&q)[8], const float (&dy)[4], const float (&delta)[4],
                             float (&dq)[8], float (&dk)[8]) {
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    dq[r] = 0;
    dk[r] = 0;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      dq[r] += S[r][c] * dy[c];
      D[r][c] = (kAdds ? D[r][c] + q[r] * dy[c] : D[r][c]) * (1.0f - S[r][c] * S[r][c]);
      dk[r] += D[r][c] * delta[c];
    }
  }
}

// S becomes S_{t-1}; dk^ and ddecay take their parts.
inline __device__ void recall_state(const Packed& before, const float (&d_delta)[4], const Tile& D, Tile& S,
                                    float (&dk)[8], float& d_decay) {
  unpack_tile(before, S);
#pragma unroll
  for (int r = 0; r < 8; ++r) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      d_decay += D[r][c] * S[r][c];
      dk[r] -= S[r][c] * d_delta[c];
    }
  }
}

// D becomes dL/dS_{t-1}.
inline __device__ void leave_step(float decay, const float (&k)[8], const float (&d_delta)[4], Tile& D) {
#pragma unroll
  for (int r = 0; r < 8; ++r) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      D[r][c] = decay * D[r][c] - k[r] * d_delta[c];
    }
  }
}

// The parts of eight rows in two word groups of a step.
inline __device__ void park(uint4 (*step)[32], int word, int lane, const float (&x)[8]) {
  float4* const words = reinterpret_cast<float4*>(&step[word][lane]);
  words[0] = make_float4(x[0], x[1], x[2], x[3]);
  words[32] = make_float4(x[4], x[5], x[6], x[7]);
}

// The sums of what the lanes of eight rows parked; neighbouring steps start in other banks.
inline __device__ Eight parked(const uint4 (*step)[32], int word, int lane) {
  Eight sum = {};
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    const int from = (4 * c + lane % 4) ^ (lane & 4);
    const float4 a = *reinterpret_cast<const float4*>(&step[word][from]);
    const float4 b = *reinterpret_cast<const float4*>(&step[word + 1][from]);
    const float x[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      sum.x[i] += x[i];
    }
  }
  return sum;
}

// dx = (dx^ - x^ (x^ . dx^)) f; x^ is still in shared memory.
inline __device__ void finish_unit(const float* unit, Eight d, float factor, bf16* dx, const Slice& z) {
  if (kNORM) {
    const Eight x = load_eight(unit);
    const float along = dot(x, d);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      d.x[i] = (d.x[i] - x.x[i] * along) * factor;
    }
  }
  store_eight(d, dx + z.at, z.there);
}

template <class Work>
__device__ void finish_parked(const e88_backward_args& a, const Work& w, int lane, const Slice& z) {
  const int s = z.there ? z.step : 0;  // what no step has written is not read
  finish_unit(&w.k[z.step][z.part], parked(w.history[s], 2, lane), w.k_factor[z.step], a.dk, z);
  finish_unit(&w.q[z.step][z.part], parked(w.history[s], 0, lane), w.q_factor[z.step], a.dq, z);
  finish_values(a, w, z);
  finish_decay(a, w, z);
}

// What is left where no lane needs the vectors of a step any more: dv in place of dy, and the parts of ddecay in place
// of delta.
template <class Work>
__device__ void leave_values(Work& w, const RowPlace& p, int s, const float (&d_delta)[4], float d_decay) {
  w.delta[s][p.lane] = d_decay;
  if (p.group == 0) {
    *reinterpret_cast<float4*>(&w.dy[s][4 * p.column]) = make_float4(d_delta[0], d_delta[1], d_delta[2], d_delta[3]);
  }
}

// Turns D = dL/dS_t into dL/dS_{t-1} and S = S_t into S_{t-1}.
template <class Work>
__device__ void reverse_parked(Work& w, const RowPlace& p, int s, const Packed& before, Tile& S, Tile& D) {
  float k[8], q[8], dy[4], delta[4];
  load_rows(p, w.k[s], k);
  load_rows(p, w.q[s], q);
  load_columns(p, w.dy[s], dy);
  load_columns(p, w.delta[s], delta);
  const float decay = w.decay[s];
  float dq[8], dk[8], d_delta[4], d_decay = 0;
  back_through<true>(S, D, q, dy, delta, dq, dk);
  partial_sums(D, k, d_delta);
  park(w.history[s], 0, p.lane, dq);
  add_lanes(d_delta, 1);
  add_lanes(d_delta, 2);
  recall_state(before, d_delta, D, S, dk, d_decay);
  leave_step(decay, k, d_delta, D);
  park(w.history[s], 2, p.lane, dk);
  __syncwarp();  // every lane has read its share of the step
  leave_values(w, p, s, d_delta, d_decay);
}

// Where the states of the lower half wait in memory, in the form of Work::history, and their deltas.
struct Below {
  uint4 (*states)[4][32];
  float (*deltas)[kSide];
};

inline __device__ void keep_packed(uint4 (*to)[32], float* delta, const RowPlace& p, const Packed& states,
                                   const float (&deltas)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[i][p.lane] = states[i];
  }
  if (p.group == 0) {
    *reinterpret_cast<float4*>(delta + 4 * p.column) = make_float4(deltas[0], deltas[1], deltas[2], deltas[3]);
  }
}

// S_{t-1} and delta of step s, for the reverse: in shared memory where `resident`.
template <class Work>
__device__ void keep_step(Work& w, const RowPlace& p, const Below& below, int s, bool resident, const Packed& states,
                          const float (&deltas)[4]) {
  if (resident) {
    keep_packed(w.history[s], w.delta[s], p, states, deltas);
  } else {
    keep_packed(below.states[s], below.deltas[s], p, states, deltas);
  }
}

inline __device__ void load_packed(const uint4 (*from)[32], int lane, Packed& to) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[i] = from[i][lane];
  }
}

template <class Work>
__device__ void load_step(const Work& w, const RowPlace& p, const Below& below, int s, bool resident, Packed& to) {
  if (resident) {
    load_packed(w.history[s], p.lane, to);
  } else {
    load_packed(below.states[s], p.lane, to);
  }
}

// The reverse steps of half a segment, which most variants share.
struct ParkedReverse {
  template <class Work>
  static __device__ void reverse(Work& w, const RowPlace& p, const Below& below, int steps, bool resident, Tile& S,
                                 Tile& D) {
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {
      Packed before;
      load_step(w, p, below, s, resident, before);
      reverse_parked(w, p, s, before, S, D);
    }
  }
};

// The steps of half a segment; keep(step, S_{t-1}, delta) is called before each. What the next step retrieves is summed
// as soon as tanh delivers.
template <class Work, class Keep>
__device__ void replay_parked(Work& w, const RowPlace& p, int steps, Tile& S, Keep keep) {
  float k[8], retrieved[4];
  load_rows(p, w.k[0], k);
  partial_sums(S, k, retrieved);
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
    Packed states;
    pack_tile(S, states);
    __syncwarp();  // every lane has read its v
    keep(s, states, delta);
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

// The kernel of one warp: each step is replayed once, the lower half of a segment waits in memory. Steps::prepare,
// Steps::replay and Steps::reverse are the variant's.
template <class Steps, class Args, class Work>
__device__ void backward_parked(const Args& a, Work& w) {
  const RowPlace p(threadIdx.x);
  const long long sequence = blockIdx.x * SEQUENCES + threadIdx.x / 32, b = sequence / a.H, h = sequence % a.H;
  if (sequence >= a.B * a.H) {
    return;  // warps never wait for one another
  }
  const Below below = {static_cast<uint4(*)[4][32]>(a.states) + sequence * kHalf,
                       static_cast<float(*)[kSide]>(a.deltas) + sequence * kHalf};
  Tile S, D;
  load_tile(p, a.d_s_final + sequence * kState, D);
  for (long long first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    if (first > 0) {
      prefetch_segment(a, p.lane, (b * a.T + first - kSegment) * a.H + h,
                       a.checkpoints + ((first / kSegment - 1) * a.B * a.H + sequence) * kState);
    }
    load_tile(p, a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState, S);
    const int top = steps > kHalf ? 1 : 0;
#pragma unroll 1
    for (int half = top; half >= 0; --half) {
      const int count = min(kHalf, steps - half * kHalf);
      const Slice slice(a, p.lane, (b * a.T + first + half * kHalf) * a.H + h, count);
#pragma unroll 1
      for (int part = half == top ? 0 : half; part <= half; ++part) {
        const int part_steps = min(kHalf, steps - part * kHalf);
        Steps::prepare(a, w, Slice(a, p.lane, (b * a.T + first + part * kHalf) * a.H + h, part_steps));
        __syncwarp();
        if (half == top) {
          Steps::replay(w, p, below, part_steps, part == top, S);
          __syncwarp();
        }
      }
      if (half != top) {
        store_eight(load_eight(&below.deltas[slice.step][slice.part]), &w.delta[slice.step][slice.part]);
      }
      prepare_reverse<logistic>(a, w, slice);
      __syncwarp();
      Steps::reverse(w, p, below, count, half == top, S, D);
      __syncwarp();
      finish_parked(a, w, p.lane, slice);
      __syncwarp();
    }
  }
  store_tile(p, D, a.ds0 + sequence * kState);
}

}  // namespace
