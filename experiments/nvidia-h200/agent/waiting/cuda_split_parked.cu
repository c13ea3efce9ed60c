// apo:variant    e88_backward/cuda_split_parked
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  split-sequence
// apo:technique  warp-specialisation
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  parked-sums
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:parent     cuda_split_warps
// apo:idea       As cuda_split_retrieval; parts of dq and dk go to shared memory after one exchange, those of dk where the history stood; helpers sum them.
// apo:predict    1.05x..1.25x over parent: 132 instructions a reverse step where 151 are, 89 a replayed one where 106 are, 10 shuffles in both where 18 are; warps wait for each.
// apo:requires   N == 32 && V == 32 && B*H <= 2147483647 && COLUMNS == 8 && 227584 <= SHARED_MAX
// apo:tune       COLUMNS 8
// apo:tune       UNROLL 4,2
// apo:launch     backward grid=B*H block=2048/COLUMNS+128 shared=227584
#include "e88_backward.args.h"
#include "e88_split.cuh"
#include "eight_steps.cuh"
#include "half_products.cuh"

namespace {

constexpr int kHelpers = 4;  // warps that prepare and finish, beside those that replay and as many that reverse
constexpr int kHalves = kSegment / kHalf;

// The inputs of eight steps; v stands in `delta`, where eight_steps.cuh puts it.
struct Inputs {
  float k[kHalf][kSide], q[kHalf][kSide], dy[kHalf][kSide], delta[kHalf][kSide];
  HalfVector half_k[kHalf];
  float decay[kHalf];
};

// A lane's share of a state, in fp16.
struct alignas(2 * COLUMNS) Kept {
  unsigned pairs[COLUMNS / 2];
};

// sum_i S[i][j] x[i] of the lane's column, in all lanes that share it. Half of the left operand's rows are not there.
__device__ float product(const Kept& S, const uint4& x) {
  float first[4] = {}, second[4] = {};
  multiply_halves(first, {S.pairs[0], 0, S.pairs[1], 0}, x.x, x.y);
  multiply_halves(second, {S.pairs[2], 0, S.pairs[3], 0}, x.z, x.w);
  return (first[0] + first[1]) + (second[0] + second[1]);
}

// The lanes' parts of a row gradient of a step, four rows each.
using Parts = float4[kWarps][32];

// What the replay of a segment leaves: the state before each step and after the last, and delta of each. Where the
// state of a step stood the reverse parks the parts of its dk^.
struct Replayed {
  Kept states[kSegment + 1][kWarps][32];
  float delta[kSegment][kSide];
};
static_assert(sizeof(Kept) == sizeof(float4));

// The parts of dq^, which needs nothing of the reverse.
struct Queries {
  Parts parts[kSegment];
};

// What the reverse steps of a segment leave beside dk^: the warps' shares of ddecay, and dv.
struct Gradients {
  float decay[kSegment][kWarps][32];
  float v[kSegment][kSide];
};

// A segment is prepared, replayed, reversed and finished in four turns that follow one another.
struct Work {
  Inputs inputs[3][kHalves];
  Replayed replayed[3];
  Queries queries[2];
  Gradients gradients[2];
};
static_assert(sizeof(Work) <= 227584);

struct Segment {
  long long index, first, row;  // its first step, and that step's row of tensors [B,T,H,.]
  int steps;
  __device__ Segment(const e88_backward_args& a, long long segment)
      : index(segment),
        first(segment * kSegment),
        row((blockIdx.x / a.H * a.T + first) * a.H + blockIdx.x % a.H),
        steps(min(static_cast<long long>(kSegment), a.T - first)) {}
};

__device__ Kept keep(const float (&S)[COLUMNS]) {
  Kept kept;
#pragma unroll
  for (int r = 0; r < COLUMNS; r += 2) {
    kept.pairs[r / 2] = pack_half(S[r], S[r + 1]);
  }
  return kept;
}

__device__ void recall(const Kept& kept, float (&S)[COLUMNS]) {
#pragma unroll
  for (int r = 0; r < COLUMNS; r += 2) {
    S[r] = half_low(kept.pairs[r / 2]);
    S[r + 1] = half_high(kept.pairs[r / 2]);
  }
}

// Sums x[r] over the two lanes of the warp that differ in bit 4; lanes of the upper half get rows 4..7.
__device__ float4 halve_rows(int lane, const float (&x)[COLUMNS]) {
  const bool upper = lane & 16;
  float sums[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    sums[r] = (upper ? x[r + 4] : x[r]) + __shfl_xor_sync(kAll, upper ? x[r] : x[r + 4], 16);
  }
  return make_float4(sums[0], sums[1], sums[2], sums[3]);
}

// The sums of eight rows over all lanes and warps; neighbouring steps start in other banks.
template <class Words>
__device__ Eight sum_of_parts(const Words (&step)[kWarps][32], int lane) {
  Eight sum = {};
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int from = (4 * i + lane % 4) ^ (lane & 4);
      const float4 x = reinterpret_cast<const float4&>(step[warp][from]);
      sum.x[i / 4 * 4] += x.x;
      sum.x[i / 4 * 4 + 1] += x.y;
      sum.x[i / 4 * 4 + 2] += x.z;
      sum.x[i / 4 * 4 + 3] += x.w;
    }
  }
  return sum;
}

// A checkpoint's entries of the lane, raw, so that they may be asked for long before they are needed.
__device__ void load_checkpoint(const e88_backward_args& a, const ColumnPlace& p, long long segment,
                                bf16 (&raw)[COLUMNS]) {
  const bf16* from = a.checkpoints + (segment * a.B * a.H + blockIdx.x) * kState + p.first_element();
#pragma unroll
  for (int r = 0; r < COLUMNS; ++r) {
    raw[r] = from[r * kSide];
  }
}

// Of a step, asked for one step before they are needed: between two steps there are stores, over which no compiler
// moves a load.
struct ForReplay {
  float k[COLUMNS], decay, v, dy;
  uint4 half_k;
  __device__ void load(const Inputs (&inputs)[kHalves], const ColumnPlace& p, int s) {
    const Inputs& in = inputs[s / kHalf];
    load_rows(&in.k[s % kHalf][p.first_row], k);
    half_k = in.half_k[s % kHalf].operand();
    decay = in.decay[s % kHalf];
    v = in.delta[s % kHalf][p.column];
    dy = in.dy[s % kHalf][p.column];
  }
};

struct ForReverse {
  float k[COLUMNS], q[COLUMNS], decay, dy, delta;
  Kept before;
  __device__ void load(const Inputs (&inputs)[kHalves], const Replayed& from, const ColumnPlace& p, int s) {
    const Inputs& in = inputs[s / kHalf];
    load_rows(&in.k[s % kHalf][p.first_row], k);
    load_rows(&in.q[s % kHalf][p.first_row], q);
    decay = in.decay[s % kHalf];
    dy = in.dy[s % kHalf][p.column];
    delta = from.delta[s][p.column];
    before = from.states[s][p.warp][p.lane];
  }
};

__device__ void replay(const Inputs (&inputs)[kHalves], Replayed& to, Queries& queries, const ColumnPlace& p, int steps,
                       float (&S)[COLUMNS]) {
  ForReplay next;
  next.load(inputs, p, 0);
  Kept kept = keep(S);
  float retrieved = product(kept, next.half_k);
#pragma unroll UNROLL
  for (int s = 0; s < steps; ++s) {
    const ForReplay in = next;
    next.load(inputs, p, min(s + 1, kSegment - 1));
    to.states[s][p.warp][p.lane] = kept;
    const float delta = in.v - retrieved;
    if (p.group == 0) {
      to.delta[s][p.column] = delta;
    }
    float dq[COLUMNS];
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      S[r] = tanh_approx(in.decay * S[r] + in.k[r] * delta);
      dq[r] = S[r] * in.dy;
    }
    kept = keep(S);
    retrieved = product(kept, next.half_k);
    queries.parts[s][p.warp][p.lane] = halve_rows(p.lane, dq);
  }
  to.states[steps][p.warp][p.lane] = kept;
}

// D = dL/dS of the segment's last step becomes that of the step before its first.
__device__ void reverse(const Inputs (&inputs)[kHalves], Replayed& from, Gradients& to, const ColumnPlace& p, int steps,
                        float (&D)[COLUMNS]) {
  float S[COLUMNS];
  recall(from.states[steps][p.warp][p.lane], S);
  ForReverse next;
  next.load(inputs, from, p, steps - 1);
#pragma unroll UNROLL
  for (int s = steps - 1; s >= 0; --s) {
    const ForReverse in = next;
    next.load(inputs, from, p, max(s - 1, 0));
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      D[r] = (D[r] + in.q[r] * in.dy) * (1.0f - S[r] * S[r]);
    }
    const float d_delta = sum_of_lanes<kLanes>(dot_of_rows(D, in.k));
    recall(in.before, S);
    float dk[COLUMNS], d_decay = 0;
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      d_decay += D[r] * S[r];
      dk[r] = D[r] * in.delta - S[r] * d_delta;
      D[r] = in.decay * D[r] - in.k[r] * d_delta;
    }
    reinterpret_cast<float4&>(from.states[s][p.warp][p.lane]) = halve_rows(p.lane, dk);
    to.decay[s][p.warp][p.lane] = d_decay;
    if (p.group == 0) {
      to.v[s][p.column] = d_delta;
    }
  }
}

// Of eight steps, by a warp each: k^, v and a, or q^, dy and dg.
__device__ void prepare(const e88_backward_args& a, Inputs (&inputs)[kHalves], int helper, int lane, const Segment& z) {
  const int half = helper % kHalves;
  const Slice slice(a, lane, z.row + half * kHalf * a.H, z.steps - half * kHalf);
  if (helper < kHalves) {
    prepare_keys(a, inputs[half], slice);
    inputs[half].half_k[slice.step].store(load_eight(&inputs[half].k[slice.step][slice.part]), slice.part);
  } else {
    prepare_reverse<logistic>(a, inputs[half], slice);
  }
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
__device__ void finish_row(const bf16* x, Eight d, bf16* dx, const Slice& z) {
  if (kNORM) {
    Eight unit = load_eight(x + z.at, z.there);
    const float factor = normalise(unit), along = dot(unit, d);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      d.x[i] = (d.x[i] - unit.x[i] * along) * factor;
    }
  }
  store_eight(d, dx + z.at, z.there);
}

// Of eight steps, by a warp each: dk, ddecay and dv. What no step has written is not read.
__device__ void finish_reversed(const e88_backward_args& a, const Replayed& keys, const Gradients& from, int half,
                                int lane, const Segment& z) {
  const Slice slice(a, lane, z.row + half * kHalf * a.H, z.steps - half * kHalf);
  const int s = half * kHalf + (slice.there ? slice.step : 0);
  if (half * kHalf >= z.steps) {
    return;
  }
  finish_row(a.k, sum_of_parts(keys.states[s], lane), a.dk, slice);
  const Eight ones = {1, 1, 1, 1, 1, 1, 1, 1};
  const float d_decay = dot(sum_of_warps(from.decay[s], slice.part), ones);
  if (slice.there && slice.part == 0) {
    a.ddecay[slice.row] = store(d_decay);
  }
  store_eight(load_eight(&from.v[s][slice.part]), a.dv + slice.at, slice.there);
}

// Likewise dq.
__device__ void finish_replayed(const e88_backward_args& a, const Queries& from, int half, int lane, const Segment& z) {
  const Slice slice(a, lane, z.row + half * kHalf * a.H, z.steps - half * kHalf);
  const int s = half * kHalf + (slice.there ? slice.step : 0);
  if (half * kHalf < z.steps) {
    finish_row(a.q, sum_of_parts(from.parts[s], lane), a.dq, slice);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(2048 / COLUMNS + 32 * kHelpers) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const long long count = (a.T + kSegment - 1) / kSegment;
  const ColumnPlace p(warp % kWarps, lane);
  const long long own = blockIdx.x * static_cast<long long>(kState) + p.first_element();
  const bool replays = warp < kWarps, reverses = !replays && warp < 2 * kWarps;
  float D[COLUMNS];  // of a warp that reverses
  bf16 next[COLUMNS];
  if (reverses) {
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      D[r] = load(a.d_s_final[own + r * kSide]);
    }
  } else if (replays) {
    load_checkpoint(a, p, count - 1, next);
  }
  for (long long turn = 0; turn < count + 3; ++turn) {
    const long long last = count - 1 - turn;  // prepared now; those after it are replayed, reversed and finished
    if (replays) {
      const Segment z(a, last + 1);
      if (z.index >= 0 && z.index < count) {
        float S[COLUMNS];
#pragma unroll
        for (int r = 0; r < COLUMNS; ++r) {
          S[r] = load(next[r]);
        }
        if (z.index > 0) {
          load_checkpoint(a, p, z.index - 1, next);
        }
        replay(w.inputs[z.index % 3], w.replayed[z.index % 3], w.queries[z.index % 2], p, z.steps, S);
      }
    } else if (reverses) {
      const Segment z(a, last + 2);
      if (z.index >= 0 && z.index < count) {
        reverse(w.inputs[z.index % 3], w.replayed[z.index % 3], w.gradients[z.index % 2], p, z.steps, D);
      }
    } else {
      const int helper = warp - 2 * kWarps;
      if (last >= 0) {
        prepare(a, w.inputs[last % 3], helper, lane, Segment(a, last));
      }
      if (helper >= kHalves && last + 2 >= 0 && last + 2 < count) {
        finish_replayed(a, w.queries[(last + 2) % 2], helper - kHalves, lane, Segment(a, last + 2));
      }
      if (helper < kHalves && last + 3 < count) {
        finish_reversed(a, w.replayed[(last + 3) % 3], w.gradients[(last + 3) % 2], helper, lane, Segment(a, last + 3));
      }
    }
    __syncthreads();
  }
  if (reverses) {
#pragma unroll
    for (int r = 0; r < COLUMNS; ++r) {
      a.ds0[own + r * kSide] = store(D[r]);
    }
  }
}
