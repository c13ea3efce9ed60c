// apo:variant    e88_backward/cuda_wide_tiling
// apo:target     cuda sm_80
// apo:technique  lane-tiling
// apo:technique  column-warps
// apo:technique  halved-history
// apo:technique  spilled-history
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  reduce-scatter
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:parent     cuda_shared_fallback
// apo:idea       States of 64 or 128 rows stay in the registers of one block: a warp owns whole columns, which nobody else needs, so that only dk and dq cross warps, once a step.
// apo:predict    8x..30x over parent: some 2600 issue slots a step of an SM at N=V=128 for 16384 elements, where the parent takes 45 us; one barrier a reverse step, none in the replay.
// apo:requires   (N == 64 && V % 32 == 0 || N == 128 && V % 16 == 0) && 128*(N+V) + 2*V*N*RESIDENT + V*N*N/128 + 512 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       RESIDENT 5,4,3,2
// apo:scratch    states (8-RESIDENT)*2*N*V*B*H
// apo:launch     backward grid=B*H block=N*V/64 shared=128*(N+V) + 2*V*N*RESIDENT + V*N*N/128 + 512
#include "e88_backward.args.h"
#include "e88_sizes.cuh"
#include "e88_wide.cuh"

namespace {

constexpr int kSaved = kSegment / 2;          // states of a segment that are kept: those before its even steps
constexpr int kBelow = kSaved - RESIDENT;     // of which so many wait in memory, the others in shared memory
constexpr int kTile = 8;                      // rows and columns of the state in the registers of a lane
constexpr int kRowLanes = kRows / kTile;      // lanes that share a column
constexpr int kColumnLanes = 32 / kRowLanes;  // lanes that share a row
constexpr int kWidth = kTile * kColumnLanes;  // columns of a warp
constexpr int kWarps = kColumns / kWidth, kThreads = 32 * kWarps;

// What a block keeps in shared memory for a segment. dk^, dq^ and dv replace k^, q^ and dy of a step once it has used
// them. A thread alone reads its states.
struct Work {
  uint4 history[RESIDENT][kTile][kThreads];  // S_{t-1} in fp16 of the last even steps, a row of the lane each
  float k[kSegment][kRows], q[kSegment][kRows], dy[kSegment][kColumns], delta[kSegment][kColumns];
  float part[2][kWarps][2][kRows];  // of dk^ and dq^, from the columns of a warp; steps take turns
  float d_decay_part[2][kWarps];
  float decay[kSegment], k_factor[kSegment], q_factor[kSegment], d_decay[kSegment];
};

using Tile = float[kTile][kTile];

struct Place {
  static constexpr int kRowLanes = ::kRowLanes;
  int lane, warp, group, column;
  __device__ explicit Place(int thread)
      : lane(thread % 32),
        warp(thread / 32),
        group(lane % kRowLanes),
        column(warp * kWidth + lane / kRowLanes * kTile) {}
  __device__ int row(int r) const { return r / 4 * (kRows / 2) + 4 * group + r % 4; }
};

// Over the lanes that hold a row of k or q, eight entries each.
__device__ float dot(const Eight& a, const Eight& b) {
  return sum_of_lanes<kRowLanes>(dot_of_eight(a, b));
}

// x^ from x, and its factor
__device__ float normalise(Eight& values) {
  if (!kNORM) {
    return 1.0f;
  }
  const float factor = rsqrtf(dot(values, values) + 1e-12f);
  scale(values, factor);
  return factor;
}

// A segment of one sequence: `row` is that of its first step in tensors [B,T,H,.].
struct Segment {
  long long row, stride;
  int steps;
  const bf16* checkpoint;
};

// Where a thread works before and after the recurrence: elements part..part+7 of step `step` of rows of `width`.
struct Slice {
  int step, part;
  bool there;
  long long row, at;
  __device__ Slice(const Segment& segment, int pass, int width)
      : step((pass * kThreads + threadIdx.x) / (width / 8)),
        part((pass * kThreads + threadIdx.x) % (width / 8) * 8),
        there(step < segment.steps),
        row(segment.row + step * segment.stride),
        at(row * width + part) {}
  // Of a pass that the threads do not fill; the same for a whole warp.
  __device__ bool beyond() const { return step >= kSegment; }
};

constexpr int kRowPasses = (kSegment * kRows / 8 + kThreads - 1) / kThreads;
constexpr int kColumnPasses = (kSegment * kColumns / 8 + kThreads - 1) / kThreads;

// A segment's inputs on their way from memory, eight neighbours a word group.
struct Inputs {
  uint4 k[kRowPasses], q[kRowPasses], v[kColumnPasses], d_output[kColumnPasses], g[kColumnPasses], y[kColumnPasses];
  uint4 checkpoint[kTile];  // the lane's rows
  float decay[kRowPasses];
};

__device__ void fetch(const e88_backward_args& a, const Place& p, const Segment& segment, Inputs& in) {
#pragma unroll
  for (int pass = 0; pass < kRowPasses; ++pass) {
    const Slice z(segment, pass, kRows);
    in.k[pass] = load_words(a.k + z.at, z.there);
    in.q[pass] = load_words(a.q + z.at, z.there);
    in.decay[pass] = z.there ? load(a.decay[z.row]) : 0.0f;
  }
#pragma unroll
  for (int pass = 0; pass < kColumnPasses; ++pass) {
    const Slice z(segment, pass, kColumns);
    in.v[pass] = load_words(a.v + z.at, z.there);
    in.d_output[pass] = load_words(a.d_output + z.at, z.there);
    in.g[pass] = load_words(a.g + z.at, kGATE && z.there);
    in.y[pass] = load_words(a.y_cache + z.at, kGATE && z.there);
  }
#pragma unroll
  for (int r = 0; r < kTile; ++r) {
    in.checkpoint[r] = load_words(segment.checkpoint + p.row(r) * kColumns + p.column, true);
  }
}

// k^, q^ and a; v where delta will stand, dy = d_output * silu(g), and dg = d_output * y * silu'(g); without a gate o =
// y.
__device__ void deposit(const e88_backward_args& a, Work& w, const Segment& segment, const Inputs& in) {
#pragma unroll
  for (int pass = 0; pass < kRowPasses; ++pass) {
    const Slice z(segment, pass, kRows);
    if (z.beyond()) {
      continue;
    }
    Eight k = unpack(in.k[pass]), q = unpack(in.q[pass]);
    w.k_factor[z.step] = normalise(k);
    w.q_factor[z.step] = normalise(q);
    store_eight(k, &w.k[z.step][z.part]);
    store_eight(q, &w.q[z.step][z.part]);
    w.decay[z.step] = in.decay[pass];
  }
#pragma unroll
  for (int pass = 0; pass < kColumnPasses; ++pass) {
    const Slice z(segment, pass, kColumns);
    if (z.beyond()) {
      continue;
    }
    store_eight(unpack(in.v[pass]), &w.delta[z.step][z.part]);
    Eight dy = unpack(in.d_output[pass]), dg = {};
    if (kGATE) {
      const Eight g = unpack(in.g[pass]), y = unpack(in.y[pass]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float sigmoid = logistic(g.x[i]);
        dg.x[i] = dy.x[i] * y.x[i] * sigmoid * (1.0f + g.x[i] * (1.0f - sigmoid));
        dy.x[i] *= g.x[i] * sigmoid;
      }
    }
    store_eight(dy, &w.dy[z.step][z.part]);
    store_eight(dg, a.dg + z.at, z.there);
  }
}

// dx = (dx^ - x^ (x^ . dx^)) f with x^ = f x and f = rsqrt(|x|^2 + epsilon)
__device__ void finish_gradient(const bf16* x, const float* gradient, float factor, bf16* dx, const Slice& z) {
  Eight d = load_eight(gradient);
  if (kNORM) {
    const Eight raw = unpack(load_words(x + z.at, z.there));
    const float along = dot(raw, d) * factor * factor * factor;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      d.x[i] = d.x[i] * factor - raw.x[i] * along;
    }
  }
  store_eight(d, dx + z.at, z.there);
}

// Each thread where it prepared the segment.
__device__ void finish(const e88_backward_args& a, const Work& w, const Segment& segment) {
  for (int pass = 0; pass < kRowPasses; ++pass) {
    const Slice z(segment, pass, kRows);
    if (z.beyond()) {
      continue;
    }
    finish_gradient(a.k, &w.k[z.step][z.part], w.k_factor[z.step], a.dk, z);
    finish_gradient(a.q, &w.q[z.step][z.part], w.q_factor[z.step], a.dq, z);
    if (z.there && z.part == 0) {
      a.ddecay[z.row] = store(w.d_decay[z.step]);
    }
  }
  for (int pass = 0; pass < kColumnPasses; ++pass) {
    const Slice z(segment, pass, kColumns);
    if (z.beyond()) {
      continue;
    }
    store_eight(load_eight(&w.dy[z.step][z.part]), a.dv + z.at, z.there);
  }
}

__device__ void prefetch_segment(const e88_backward_args& a, const Segment& segment) {
  for (int pass = 0; pass < kRowPasses; ++pass) {
    const Slice z(segment, pass, kRows);
    if (z.beyond()) {
      continue;
    }
    prefetch(a.k + z.at);
    prefetch(a.q + z.at);
  }
  for (int pass = 0; pass < kColumnPasses; ++pass) {
    const Slice z(segment, pass, kColumns);
    if (z.beyond()) {
      continue;
    }
    prefetch(a.v + z.at);
    prefetch(a.d_output + z.at);
    if (kGATE) {
      prefetch(a.g + z.at);
      prefetch(a.y_cache + z.at);
    }
  }
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    prefetch(segment.checkpoint + (part * kThreads + threadIdx.x) * 16);  // 32 bytes
  }
}

// A lane's rows of a state.
__device__ void unpack_tile(const uint4 (&words)[kTile], Tile& S) {
#pragma unroll
  for (int r = 0; r < kTile; ++r) {
    const Eight row = unpack(words[r]);
#pragma unroll
    for (int c = 0; c < kTile; ++c) {
      S[r][c] = row.x[c];
    }
  }
}

// Adds up x[r] over the lanes of a row and leaves the sums of this warp's columns in `part`.
__device__ void sum_rows(const Place& p, float (&x)[8], float* part) {
  exchange<4>(p, 16, x);
  const int first = p.lane & 16 ? kRows / 2 : 0;
  if (kColumnLanes == 2) {
    *reinterpret_cast<float4*>(part + first + 4 * p.group) = make_float4(x[0], x[1], x[2], x[3]);
  } else {
    exchange<2>(p, 8, x);
    *reinterpret_cast<float2*>(part + first + 4 * p.group + (p.lane & 8 ? 2 : 0)) = make_float2(x[0], x[1]);
  }
}

__device__ void keep(uint4 (*to)[kThreads], const Tile& S) {
#pragma unroll
  for (int r = 0; r < kTile; ++r) {
    to[r][threadIdx.x] = make_uint4(pack_half(S[r][0], S[r][1]), pack_half(S[r][2], S[r][3]),
                                    pack_half(S[r][4], S[r][5]), pack_half(S[r][6], S[r][7]));
  }
}

// The steps of a segment; leaves S_{t-1} of the even ones and delta of each for the reverse steps. What the next step
// retrieves is summed as soon as tanh delivers.
__device__ void replay(Work& w, const Place& p, uint4 (*below)[kTile][kThreads], int steps, Tile& S) {
  Eight k = load_rows(p, w.k[0]);
  float retrieved[kTile] = {};
#pragma unroll
  for (int r = 0; r < kTile; ++r) {
#pragma unroll
    for (int c = 0; c < kTile; ++c) {
      retrieved[c] += S[r][c] * k.x[r];
    }
  }
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    const float sum = sum_of_column(p, retrieved);
    if (speaks<kTile>(p)) {
      w.delta[s][owned<kTile>(p)] -= sum;
    }
    if (s % 2 == 0) {
      if (s / 2 < kBelow) {
        keep(below[s / 2], S);
      } else {
        keep(w.history[s / 2 - kBelow], S);
      }
    }
    const Eight next_k = load_rows(p, w.k[min(s + 1, kSegment - 1)]);
    const float decay = w.decay[s];
    __syncwarp();  // delta is there
    const Eight delta = load_eight(&w.delta[s][p.column]);
#pragma unroll
    for (int c = 0; c < kTile; ++c) {
      retrieved[c] = 0;
    }
#pragma unroll
    for (int r = 0; r < kTile; ++r) {
#pragma unroll
      for (int c = 0; c < kTile; ++c) {
        S[r][c] = tanh_approx(decay * S[r][c] + k.x[r] * delta.x[c]);
        retrieved[c] += S[r][c] * next_k.x[r];
      }
    }
    k = next_k;
  }
}

// Turns D = dL/dS_t into dL/dS_{t-1} and S = S_t into S_{t-1}, which is `kept` or, of an odd step, one step after it;
// leaves dv in place of dy, and this warp's parts of dk^, dq^ and ddecay.
template <bool kOdd>
__device__ void reverse_step(Work& w, const Place& p, int s, const uint4 (&kept)[kTile], Tile& S, Tile& D) {
  const Eight k = load_rows(p, w.k[s]), q = load_rows(p, w.q[s]);
  const Eight dy = load_eight(&w.dy[s][p.column]), delta = load_eight(&w.delta[s][p.column]);
  const float decay = w.decay[s];
  float dq[kTile], dk[kTile], sums[kTile] = {}, d_decay = 0;
#pragma unroll
  for (int r = 0; r < kTile; ++r) {
    dq[r] = 0;
    dk[r] = 0;
#pragma unroll
    for (int c = 0; c < kTile; ++c) {
      dq[r] += S[r][c] * dy.x[c];
      D[r][c] = (D[r][c] + q.x[r] * dy.x[c]) * (1.0f - S[r][c] * S[r][c]);
      dk[r] += D[r][c] * delta.x[c];
      sums[c] += D[r][c] * k.x[r];
    }
  }
  const float sum = sum_of_column(p, sums);
  __syncwarp();  // every lane has read dy
  if (speaks<kTile>(p)) {
    w.dy[s][owned<kTile>(p)] = sum;
  }
  sum_rows(p, dq, w.part[s % 2][p.warp][1]);
  __syncwarp();
  const Eight d_delta = load_eight(&w.dy[s][p.column]);
  Eight k_before = {}, delta_before = {};
  if (kOdd) {
    k_before = load_rows(p, w.k[s - 1]);
    delta_before = load_eight(&w.delta[s - 1][p.column]);
  }
  const float decay_before = kOdd ? w.decay[s - 1] : 0.0f;
#pragma unroll
  for (int r = 0; r < kTile; ++r) {
    const unsigned pairs[4] = {kept[r].x, kept[r].y, kept[r].z, kept[r].w};
#pragma unroll
    for (int c = 0; c < kTile; ++c) {
      float earlier = c % 2 == 0 ? half_low(pairs[c / 2]) : half_high(pairs[c / 2]);
      if (kOdd) {
        earlier = tanh_approx(decay_before * earlier + k_before.x[r] * delta_before.x[c]);
      }
      d_decay += D[r][c] * earlier;
      dk[r] -= earlier * d_delta.x[c];
      D[r][c] = decay * D[r][c] - k.x[r] * d_delta.x[c];
      S[r][c] = earlier;
    }
  }
  sum_rows(p, dk, w.part[s % 2][p.warp][0]);
  d_decay = sum_of_lanes(d_decay);
  if (p.lane == 0) {
    w.d_decay_part[s % 2][p.warp] = d_decay;
  }
}

// Adds up what the warps left of a step.
__device__ void sum_parts(Work& w, int s) {
#pragma unroll
  for (int first = 0; first < 2 * kRows; first += kThreads) {
    const int i = first + threadIdx.x, which = i / kRows, row = i % kRows;
    if (2 * kRows % kThreads == 0 || i < 2 * kRows) {
      float sum = 0;
#pragma unroll
      for (int warp = 0; warp < kWarps; ++warp) {
        sum += w.part[s % 2][warp][which][row];
      }
      (which == 0 ? w.k : w.q)[s][row] = sum;
    }
  }
  if (threadIdx.x == kThreads - 1) {
    float sum = 0;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
      sum += w.d_decay_part[s % 2][warp];
    }
    w.d_decay[s] = sum;
  }
}

template <bool kOdd>
__device__ void reverse_and_sum(Work& w, const Place& p, int s, const uint4 (&kept)[kTile], Tile& S, Tile& D) {
  reverse_step<kOdd>(w, p, s, kept, S, D);
  __syncthreads();  // the parts are there, and nobody reads k^ and q^ any more
  sum_parts(w, s);
}

__device__ void reverse(Work& w, const Place& p, uint4 (*below)[kTile][kThreads], int steps, Tile& S, Tile& D) {
#pragma unroll 1
  for (int pair = (steps - 1) / 2; pair >= 0; --pair) {
    uint4 kept[kTile];
#pragma unroll
    for (int r = 0; r < kTile; ++r) {
      kept[r] = pair < kBelow ? below[pair][r][threadIdx.x] : w.history[pair - kBelow][r][threadIdx.x];
    }
    if (2 * pair + 1 < steps) {
      reverse_and_sum<true>(w, p, 2 * pair + 1, kept, S, D);
    }
    reverse_and_sum<false>(w, p, 2 * pair, kept, S, D);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  Work& w = *reinterpret_cast<Work*>(shared);
  const Place p(threadIdx.x);
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  const auto below = static_cast<uint4(*)[kTile][kThreads]>(a.states) + sequence * kBelow;
  const auto segment_at = [&](long long first) {
    return Segment{.row = (b * a.T + first) * a.H + h,
                   .stride = a.H,
                   .steps = static_cast<int>(min(static_cast<long long>(kSegment), a.T - first)),
                   .checkpoint = a.checkpoints + (first / kSegment * a.B * a.H + sequence) * kState};
  };
  Tile S, D;
  Inputs in;
  long long first = (a.T - 1) / kSegment * kSegment;
  fetch(a, p, segment_at(first), in);
  {
    uint4 words[kTile];
#pragma unroll
    for (int r = 0; r < kTile; ++r) {
      words[r] = load_words(a.d_s_final + sequence * kState + p.row(r) * kColumns + p.column, true);
    }
    unpack_tile(words, D);
  }
  for (; first >= 0; first -= kSegment) {
    const Segment segment = segment_at(first);
    unpack_tile(in.checkpoint, S);
    deposit(a, w, segment, in);
    if (first > 0) {
      prefetch_segment(a, segment_at(first - kSegment));
    }
    __syncthreads();
    replay(w, p, below, segment.steps, S);
    reverse(w, p, below, segment.steps, S, D);
    __syncthreads();
    if (first > 0) {
      fetch(a, p, segment_at(first - kSegment), in);  // arrives while the gradients leave
    }
    finish(a, w, segment);
    __syncwarp();  // the lanes of a row share its factors
  }
#pragma unroll
  for (int r = 0; r < kTile; ++r) {
    Eight row;
#pragma unroll
    for (int c = 0; c < kTile; ++c) {
      row.x[c] = D[r][c];
    }
    store_eight(row, a.ds0 + sequence * kState + p.row(r) * kColumns + p.column, true);
  }
}
