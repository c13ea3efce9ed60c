// variants/e88_forward/split_steps.cuh - the steps of a sequence whose columns are dealt out to warps, a chunk at a
// time: what a chunk holds in shared memory, and how a warp takes its columns through it.
#pragma once
#include "e88_sizes.cuh"
#include "e88_split.cuh"

namespace {

constexpr int kSide = kSideOfState;

// The inputs of a chunk as the steps need them, and what they make of it: row s + 1 of `y` has the lanes' shares of y
// of step s, a column each; row 0 is never read.
struct Chunk {
  float k[kSegment][kSide], q[kSegment][kSide], v[kSegment][kSide], y[kSegment + 1][kSide][kLanes];
  float decay[kSegment];
};

// Of a step, asked for one step before they are needed: no compiler moves a load over the store of y.
struct Operands {
  float k[COLUMNS], q[COLUMNS], decay, v;
  __device__ void load(const Chunk& chunk, const ColumnPlace& p, int s) {
    load_rows(p, chunk.k[s], k);
    load_rows(p, chunk.q[s], q);
    decay = chunk.decay[s];
    v = chunk.v[s][p.column];
  }
};

// y of eight columns of a step.
inline __device__ Eight sum_shares(const float (*shares)[kLanes]) {
  Eight y;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    y.x[i] = 0;
#pragma unroll
    for (int lane = 0; lane < kLanes; ++lane) {
      y.x[i] += shares[i][lane];
    }
  }
  return y;
}

inline __device__ void leave_share(Chunk& chunk, const ColumnPlace& p, int s, float y) {
  chunk.y[s][p.column][p.group] = y;
}

// The steps of a chunk. A step's chain is an exchange, a product with delta, the tanh and a sum; all else is done while
// the exchange is under way: the state decays, and y of the step before is summed, in row s of Chunk::y.
template <bool kWhole>
__device__ void take_steps(Chunk& chunk, const ColumnPlace& p, int steps, float (&S)[COLUMNS]) {
  Operands next;
  next.load(chunk, p, 0);
  float q[COLUMNS] = {}, retrieved = dot_of_rows(S, next.k);
#pragma unroll UNROLL
  for (int s = 0; s < (kWhole ? kSegment : steps); ++s) {
    const Operands in = next;
    const float delta = in.v - sum_of_column(retrieved);
    next.load(chunk, p, min(s + 1, kSegment - 1));
    leave_share(chunk, p, s, dot_of_rows(S, q));
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      S[r] = tanh_approx(fmaf(in.k[r], delta, in.decay * S[r]));
      q[r] = in.q[r];
    }
    retrieved = dot_of_rows(S, next.k);
  }
  leave_share(chunk, p, steps, dot_of_rows(S, q));
}

inline __device__ void take_chunk(Chunk& chunk, const ColumnPlace& p, int steps, float (&S)[COLUMNS]) {
  if (steps == kSegment) {
    take_steps<true>(chunk, p, steps, S);
  } else {
    take_steps<false>(chunk, p, steps, S);
  }
}

}  // namespace
