// variants/e88_backward/lane_tiles.cuh - the recurrence of cuda_lane_tiling: a warp has a state of 32 x 32 in
// registers, a lane a tile of it, and shared memory has half a segment. A variant may bring a Work, Place and Tile of
// its own, and functions for them.
#pragma once
#include "e88_tiles.cuh"
#include "eight_steps.cuh"

namespace {

// What a warp keeps in shared memory for half a segment. dk^, dq^ and dv replace k^, q^ and dy of a step once it has
// used them, and the lanes' parts of ddecay replace delta.
struct TileWork {
  uint4 history[kHalf][4][32];  // S_{t-1} in fp16, as the lanes hold it
  float k[kHalf][kSide], q[kHalf][kSide], dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf];
  template <class Place>
  __device__ uint4& kept(const Place& p, int s, int word) {
    return history[s][word][p.lane];
  }
};

// Lane (g, c), g = lane % 4 and c = lane / 4, owns rows 8g..8g+7 and columns 4c..4c+3.
using Tile = float[8][4];

struct TilePlace {
  int lane, group, column;
  int swap;  // lanes of the upper half hold the two halves of their rows in reverse order, which saves selects
  __device__ explicit TilePlace(int thread) : lane(thread % 32), group(lane % 4), column(lane / 4), swap(lane / 16) {}
  __device__ int first_column() const { return 4 * column; }
  __device__ int summed_row() const { return 8 * group + column; }  // the one of scatter_rows
  __device__ int row(int r) const { return 8 * group + (r ^ (4 * swap)); }
};

// The state of one sequence at `from`, row-major.
template <class Place>
__device__ void load_tile(const Place& p, const bf16* from, float (&S)[8][4]) {
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const uint2 words = *reinterpret_cast<const uint2*>(from + p.row(r) * kSide + p.first_column());
    S[r][0] = low(words.x);
    S[r][1] = high(words.x);
    S[r][2] = low(words.y);
    S[r][3] = high(words.y);
  }
}

template <class Place>
__device__ void store_tile(const Place& p, const float (&S)[8][4], bf16* to) {
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    *reinterpret_cast<uint2*>(to + p.row(r) * kSide + p.first_column()) =
        make_uint2(pack(S[r][0], S[r][1]), pack(S[r][2], S[r][3]));
  }
}

// The lane's part of a state for Work::history: `kTileColumns` words of eight fp16, since |S| <= 1 but for s0, and 1 -
// S^2 needs the three bits that bf16 lacks near 1.
template <class Work, class Place, int kTileColumns>
__device__ void keep_tile(Work& w, const Place& p, int s, const float (&S)[8][kTileColumns]) {
  constexpr int kRowsOfWord = 8 / kTileColumns, kPairs = kTileColumns / 2;
#pragma unroll
  for (int word = 0; word < kTileColumns; ++word) {
    unsigned pairs[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int r = word * kRowsOfWord + e / kPairs, c = e % kPairs * 2;
      pairs[e] = pack_half(S[r][c], S[r][c + 1]);
    }
    w.kept(p, s, word) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  }
}

// Entries of k^ or q^ for the rows of the lane.
template <class Place>
__device__ void load_rows(const Place& p, const float* from, float (&x)[8]) {
#pragma unroll
  for (int r = 0; r < 8; r += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + p.row(r));
    x[r] = four.x;
    x[r + 1] = four.y;
    x[r + 2] = four.z;
    x[r + 3] = four.w;
  }
}

template <class Place>
__device__ void load_columns(const Place& p, const float* from, float (&x)[4]) {
  const float4 four = *reinterpret_cast<const float4*>(from + p.first_column());
  x[0] = four.x;
  x[1] = four.y;
  x[2] = four.z;
  x[3] = four.w;
}

template <class Place>
__device__ void store_columns(const Place& p, const float (&x)[4], float* to) {
  *reinterpret_cast<float4*>(to + p.first_column()) = make_float4(x[0], x[1], x[2], x[3]);
}

// Sums x[r] over the eight lanes that share the rows; the lane gets the sum of its summed_row().
template <class Place>
__device__ float scatter_rows(const Place& p, float (&x)[8]) {
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    x[r] += __shfl_xor_sync(kAll, x[r + 4], 16);  // what is kept is in x[0..3] on either side: see Place::swap
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool upper = p.lane & 8;
    x[r] = (upper ? x[r + 2] : x[r]) + __shfl_xor_sync(kAll, upper ? x[r] : x[r + 2], 8);
  }
  const bool upper = p.lane & 4;
  return (upper ? x[1] : x[0]) + __shfl_xor_sync(kAll, upper ? x[0] : x[1], 4);
}

// A lane's sums of a step: dq^ and dk^ of its summed_row(), and its part of ddecay.
struct Sums {
  float dq, dk, d_decay;
};

// The steps of half a segment; with `keep`, leaves S_{t-1} and delta of each for the reverse steps.
template <class Work, class Place, int kTileColumns>
__device__ void replay(Work& w, const Place& p, int steps, bool keep, float (&S)[8][kTileColumns]) {
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    float k[8], v[kTileColumns], delta[kTileColumns];
    const float decay = w.decay[s];
    load_rows(p, w.k[s], k);
    load_columns(p, w.delta[s], v);
    column_sums(p, S, k, delta);
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
      delta[c] = v[c] - delta[c];
    }
    if (keep) {
      keep_tile(w, p, s, S);
      __syncwarp();  // every lane has read its v
      if (p.group == 0) {
        store_columns(p, delta, w.delta[s]);
      }
    }
#pragma unroll
    for (int r = 0; r < 8; ++r) {
#pragma unroll
      for (int c = 0; c < kTileColumns; ++c) {
        S[r][c] = tanh_approx(decay * S[r][c] + k[r] * delta[c]);
      }
    }
  }
}

// Turns D = dL/dS_t into dL/dS_{t-1} and S = S_t into S_{t-1}; returns the lane's sums, and leaves d_delta of its
// columns.
template <class Work, class Place, int kTileColumns>
__device__ Sums reverse_tile(Work& w, const Place& p, int s, float (&S)[8][kTileColumns], float (&D)[8][kTileColumns],
                             float (&d_delta)[kTileColumns]) {
  float k[8], q[8], dy[kTileColumns], delta[kTileColumns];
  load_rows(p, w.k[s], k);
  load_rows(p, w.q[s], q);
  load_columns(p, w.dy[s], dy);
  load_columns(p, w.delta[s], delta);
  const float decay = w.decay[s];
  float dq[8], dk[8], d_decay = 0;
  back_through_tanh(S, D, q, dy, delta, dq, dk);
  column_sums(p, D, k, d_delta);
  uint4 before[kTileColumns];
#pragma unroll
  for (int word = 0; word < kTileColumns; ++word) {
    before[word] = w.kept(p, s, word);
  }
  back_to_state(before, decay, k, d_delta, S, D, dk, d_decay);
  const float dq_row = scatter_rows(p, dq), dk_row = scatter_rows(p, dk);
  return {dq_row, dk_row, d_decay};
}

// Leaves the step's gradients in `w`.
template <class Work, class Place>
__device__ void reverse_step(Work& w, const Place& p, int s, Tile& S, Tile& D) {
  float d_delta[4];
  const Sums sums = reverse_tile(w, p, s, S, D, d_delta);
  __syncwarp();  // every lane has read its share of the step
  w.q[s][p.summed_row()] = sums.dq;
  w.k[s][p.summed_row()] = sums.dk;
  w.delta[s][p.lane] = sums.d_decay;
  if (p.group == 0) {
    store_columns(p, d_delta, w.dy[s]);
  }
}

template <class Work>
__device__ void finish(const e88_backward_args& a, const Work& w, const Slice& z) {
  finish_gradient(a.k, &w.k[z.step][z.part], a.dk, z);
  finish_gradient(a.q, &w.q[z.step][z.part], a.dq, z);
  finish_values(a, w, z);
  finish_decay(a, w, z);
}

// The kernel of one warp, whose part of shared memory is `w`.
template <class Place>
__device__ void backward_by_tiles(const e88_backward_args& a, TileWork& w) {
  const Place p(threadIdx.x);
  const long long sequence = blockIdx.x * SEQUENCES + threadIdx.x / 32, b = sequence / a.H, h = sequence % a.H;
  if (sequence >= a.B * a.H) {
    return;  // warps never wait for one another
  }
  Tile S, D;
  load_tile(p, a.d_s_final + sequence * kState, D);
  for (long long first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    if (first > 0) {
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
        prepare_keys(a, w, Slice(a, p.lane, part_row, part_steps));
        if (part == half) {
          prepare_reverse<logistic_by_division>(a, w, slice);
        }
        __syncwarp();
        replay(w, p, part_steps, part == half, S);
        __syncwarp();
      }
#pragma unroll 1
      for (int s = count - 1; s >= 0; --s) {
        reverse_step(w, p, s, S, D);
      }
      __syncwarp();
      finish(a, w, slice);
      __syncwarp();
    }
  }
  store_tile(p, D, a.ds0 + sequence * kState);
}

}  // namespace
