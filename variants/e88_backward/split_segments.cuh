// split_segments.cuh - segments of a sequence by a block: some warps replay one while others reverse the one after it,
// COLUMNS columns each; helpers prepare the one before it and finish the gradients of those behind.
#pragma once
#include "e88_split.cuh"
#include "grouped_loads.cuh"

namespace {

constexpr int kHelpers = 4;  // warps that prepare and finish, beside those that replay and as many that reverse
constexpr int kHalves = kSegment / kHalf;

// The inputs of eight steps; v stands in `delta`, where eight_steps.cuh puts it.
struct Inputs {
  float k[kHalf][kSide], q[kHalf][kSide], dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf];
};

// The states of a warp's columns: of each lane its rows, four at a time.
using Kept = float4[COLUMNS / 4][32];

// What the replay of a segment leaves: the state before each step and after the last, delta of each, and the warps'
// shares of dq^, which needs nothing of the reverse. Row s + 1 has those of step s; row 0 is never read.
struct Replayed {
  Kept states[kSegment + 1][kWarps];
  float delta[kSegment][kSide];
  float q[kSegment + 1][kWarps][kSide];
};

// What the reverse steps of a segment leave: the warps' shares of dk^ and ddecay, and dv. The last row of `k` is never
// read.
struct Gradients {
  float k[kSegment + 1][kWarps][kSide], decay[kSegment][kWarps][32];
  float v[kSegment][kSide];
};

// A segment is prepared, replayed, reversed and finished in four turns that follow one another.
struct Work {
  Inputs inputs[3][kHalves];
  Replayed replayed[2];
  Gradients gradients[2];
};
static_assert(sizeof(Work) == 223424);

struct Segment {
  long long index, first, row;  // its first step, and that step's row of tensors [B,T,H,.]
  int steps;
  __device__ Segment(const e88_backward_args& a, long long sequence, long long segment)
      : index(segment),
        first(segment * kSegment),
        row((sequence / a.H * a.T + first) * a.H + sequence % a.H),
        steps(min(static_cast<long long>(kSegment), a.T - first)) {}
};

__device__ void keep(const float (&S)[COLUMNS], int lane, Kept& to) {
#pragma unroll
  for (int r = 0; r < COLUMNS; r += 4) {
    to[r / 4][lane] = make_float4(S[r], S[r + 1], S[r + 2], S[r + 3]);
  }
}

__device__ void recall(const Kept& kept, int lane, float (&S)[COLUMNS]) {
#pragma unroll
  for (int r = 0; r < COLUMNS; r += 4) {
    load_four(&kept[r / 4][lane].x, &S[r]);
  }
}

// A checkpoint's entries of the lane, raw, so that they may be asked for long before they are needed.
__device__ void load_checkpoint(const e88_backward_args& a, const ColumnPlace& p, long long sequence, long long segment,
                                bf16 (&raw)[COLUMNS]) {
  const bf16* from = a.checkpoints + (segment * a.B * a.H + sequence) * kState;
#pragma unroll
  for (int r = 0; r < COLUMNS; ++r) {
    raw[r] = from[p.element(r)];
  }
}

// Of a step, asked for one step before they are needed: between two steps there are stores, over which no compiler
// moves a load.
struct ForReplay {
  float k[COLUMNS], decay, v, dy;
  __device__ void load(const Inputs (&inputs)[kHalves], const ColumnPlace& p, int s) {
    const Inputs& in = inputs[s / kHalf];
    load_rows(p, in.k[s % kHalf], k);
    decay = in.decay[s % kHalf];
    v = in.delta[s % kHalf][p.column];
    dy = in.dy[s % kHalf][p.column];
  }
};

struct ForReverse {
  float k[COLUMNS], q[COLUMNS], before[COLUMNS], decay, dy, delta;
  __device__ void load(const Inputs (&inputs)[kHalves], const Replayed& from, const ColumnPlace& p, int s) {
    const Inputs& in = inputs[s / kHalf];
    load_rows(p, in.k[s % kHalf], k);
    load_rows(p, in.q[s % kHalf], q);
    decay = in.decay[s % kHalf];
    dy = in.dy[s % kHalf][p.column];
    delta = from.delta[s][p.column];
    recall(from.states[s][p.warp], p.lane, before);
  }
};

// What only feeds a gradient is done one step later, while the exchange of the chain is under way: the shuffles of dq^
// here, those of dk^ in the reverse.
template <bool kWhole>
__device__ void replay(const Inputs (&inputs)[kHalves], Replayed& to, const ColumnPlace& p, int steps,
                       float (&S)[COLUMNS]) {
  const auto leave_query = [&](int row, float dy) {
    float dq[COLUMNS];
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      dq[r] = S[r] * dy;
    }
    to.q[row][p.warp][p.summed_row()] = scatter_rows(p.lane, dq);
  };
  ForReplay next;
  next.load(inputs, p, 0);
  float dy = 0, retrieved = dot_of_rows(S, next.k);
#pragma unroll UNROLL
  for (int s = 0; s < (kWhole ? kSegment : steps); ++s) {
    const ForReplay in = next;
    const float delta = in.v - sum_of_column(retrieved);
    next.load(inputs, p, min(s + 1, kSegment - 1));
    keep(S, p.lane, to.states[s][p.warp]);
    leave_query(s, dy);
    if (p.group == 0) {
      to.delta[s][p.column] = delta;
    }
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      S[r] = tanh_approx(fmaf(in.k[r], delta, in.decay * S[r]));
    }
    retrieved = dot_of_rows(S, next.k);
    dy = in.dy;
  }
  keep(S, p.lane, to.states[steps][p.warp]);
  leave_query(steps, dy);
}

// D = dL/dS of the segment's last step becomes that of the step before its first.
template <bool kWhole>
__device__ void reverse(const Inputs (&inputs)[kHalves], const Replayed& from, Gradients& to, const ColumnPlace& p,
                        int steps, float (&D)[COLUMNS]) {
  float S[COLUMNS], dk[COLUMNS] = {};
  recall(from.states[steps][p.warp], p.lane, S);
  ForReverse next;
  next.load(inputs, from, p, steps - 1);
#pragma unroll UNROLL
  for (int s = (kWhole ? kSegment : steps) - 1; s >= 0; --s) {
    const ForReverse in = next;
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      D[r] = fmaf(in.q[r], in.dy, D[r]) * (1.0f - S[r] * S[r]);
    }
    const float d_delta = sum_of_column(dot_of_rows(D, in.k));
    next.load(inputs, from, p, max(s - 1, 0));
    to.k[s + 1][p.warp][p.summed_row()] = scatter_rows(p.lane, dk);
    to.decay[s][p.warp][p.lane] = dot_of_rows(D, in.before);
    if (p.group == 0) {
      to.v[s][p.column] = d_delta;
    }
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      S[r] = in.before[r];
      dk[r] = fmaf(-S[r], d_delta, D[r] * in.delta);
      D[r] = fmaf(-in.k[r], d_delta, in.decay * D[r]);
    }
  }
  to.k[0][p.warp][p.summed_row()] = scatter_rows(p.lane, dk);
}

// Of eight steps, for a helper: what it prepares, k^, v and a or q^, dy and dg, and k or q of the gradient that it
// finishes. All is asked for a turn before it is needed, since a helper that waits for memory several times in a turn
// may take longer than the steps.
struct Coming {
  Keys keys;
  Others others;
  uint4 x;
};

struct Helper {
  int half, lane;
  bool has_keys;
  __device__ Helper(int helper, int lane_of_warp)
      : half(helper % kHalves), lane(lane_of_warp), has_keys(helper < kHalves) {}
  // No step of it is there where the segment is not.
  __device__ Slice slice(const e88_backward_args& a, const Segment& z, bool is_there) const {
    return Slice(a, lane, z.row + half * kHalf * a.H, is_there ? z.steps - half * kHalf : 0);
  }
};

__device__ Coming fetch(const e88_backward_args& a, const Helper& helper, const Slice& prepared,
                        const Slice& finished) {
  Coming in;
  if (helper.has_keys) {
    in.keys = fetch_keys(a, prepared);
  } else {
    in.others = fetch_others(a, prepared);
  }
  in.x = load_words(helper.has_keys ? a.k + finished.at : a.q + finished.at, finished.there && kNORM);
  return in;
}

// Eight neighbours of the sum over the warps.
__device__ Eight sum_of_warps(const float (&shares)[kWarps][kSide], int part) {
  Eight sum = load_eight(&shares[0][part]);
#pragma unroll
  for (int warp = 1; warp < kWarps; ++warp) {
    const Eight share = load_eight(&shares[warp][part]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      sum.x[i] += share.x[i];
    }
  }
  return sum;
}

// dx = (dx^ - x^ (x^ . dx^)) rsqrt(|x|^2 + epsilon)
__device__ void finish_row(const uint4& x, Eight d, bf16* dx, const Slice& z) {
  if (kNORM) {
    Eight unit = unpack(x);
    const float factor = normalise(unit), along = dot(unit, d);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      d.x[i] = (d.x[i] - unit.x[i] * along) * factor;
    }
  }
  store_eight(d, dx + z.at, z.there);
}

// Of eight steps: dk, ddecay and dv. What no step has written is not read.
__device__ void finish_reversed(const e88_backward_args& a, const Gradients& from, int half, const uint4& x,
                                const Slice& z) {
  const int s = half * kHalf + (z.there ? z.step : 0);
  finish_row(x, sum_of_warps(from.k[s], z.part), a.dk, z);
  const Eight ones = {1, 1, 1, 1, 1, 1, 1, 1};
  const float d_decay = dot(sum_of_warps(from.decay[s], z.part), ones);
  if (z.there && z.part == 0) {
    a.ddecay[z.row] = store(d_decay);
  }
  store_eight(load_eight(&from.v[s][z.part]), a.dv + z.at, z.there);
}

// The part of a thread in the segments `from` down to `to` of a sequence; D = dL/dS of the lane's rows, of a warp that
// reverses: behind the last step, then before the first.
__device__ void take_segments(const e88_backward_args& a, Work& w, int warp, const ColumnPlace& p, long long sequence,
                              long long from, long long to, float (&D)[COLUMNS]) {
  const bool replays = warp < kWarps, reverses = !replays && warp < 2 * kWarps;
  const auto is_there = [&](long long segment) { return segment >= to && segment <= from; };
  const Helper helper(warp - 2 * kWarps, p.lane);
  const auto slice_of = [&](long long segment) {
    return helper.slice(a, Segment(a, sequence, segment), is_there(segment));
  };
  // dk is finished when its segment is reversed, dq when it is replayed.
  const auto finished_after = [&](long long last) { return last + (helper.has_keys ? 3 : 2); };
  Coming in;
  bf16 next[COLUMNS];
  if (replays) {
    load_checkpoint(a, p, sequence, from, next);
  } else if (!reverses) {
    in = fetch(a, helper, slice_of(from), slice_of(finished_after(from)));
  }
#pragma unroll 1
  for (long long last = from; last >= to - 3;
       --last) {  // prepared now; those after it are replayed, reversed, finished
    if (replays) {
      const Segment z(a, sequence, last + 1);
      if (is_there(z.index)) {
        float S[COLUMNS];
#pragma unroll
        for (int r = 0; r < COLUMNS; ++r) {
          S[r] = load(next[r]);
        }
        if (z.index > to) {
          load_checkpoint(a, p, sequence, z.index - 1, next);
        }
        const auto& inputs = w.inputs[z.index % 3];
        if (z.steps == kSegment) {
          replay<true>(inputs, w.replayed[z.index % 2], p, kSegment, S);
        } else {
          replay<false>(inputs, w.replayed[z.index % 2], p, z.steps, S);
        }
      }
    } else if (reverses) {
      const Segment z(a, sequence, last + 2);
      if (is_there(z.index)) {
        const auto& inputs = w.inputs[z.index % 3];
        if (z.steps == kSegment) {
          reverse<true>(inputs, w.replayed[z.index % 2], w.gradients[z.index % 2], p, kSegment, D);
        } else {
          reverse<false>(inputs, w.replayed[z.index % 2], w.gradients[z.index % 2], p, z.steps, D);
        }
      }
    } else {
      const Segment z(a, sequence, finished_after(last));
      const Slice behind = slice_of(finished_after(last));
      if (is_there(last)) {
        Inputs& inputs = w.inputs[last % 3][helper.half];
        if (helper.has_keys) {
          deposit(in.keys, inputs, slice_of(last));
        } else {
          deposit(a, in.others, inputs, slice_of(last));
        }
      }
      const Coming later = fetch(a, helper, slice_of(last - 1), slice_of(finished_after(last - 1)));
      if (is_there(z.index) && z.steps > helper.half * kHalf) {
        if (helper.has_keys) {
          finish_reversed(a, w.gradients[z.index % 2], helper.half, in.x, behind);
        } else {
          const int s = helper.half * kHalf + (behind.there ? behind.step : 0);
          finish_row(in.x, sum_of_warps(w.replayed[z.index % 2].q[s + 1], behind.part), a.dq, behind);
        }
      }
      in = later;
    }
    __syncthreads();
  }
}

}  // namespace
