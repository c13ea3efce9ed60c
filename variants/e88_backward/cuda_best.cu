// apo:variant    e88_backward/cuda_best
// apo:target     cuda sm_80
// apo:technique  spilled-history
// apo:technique  lane-tiling
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  reduce-scatter
// apo:technique  shared-history
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  register-owned
// apo:technique  multi-head
// apo:parent     cuda_lane_tiling
// apo:idea       Each step is replayed once: the lower half of a segment waits in memory, the upper in shared memory; sums over lanes overlap the next work.
// apo:predict    1.08x..1.3x over parent: half a replay a step goes, 80 of some 820 issue slots, and fewer shuffles are waited for.
// apo:requires   N == 32 && V == 32 && SEQUENCES*20576 <= SHARED_MAX && B*H <= 2147483647
// apo:tune       SEQUENCES 11,7,4,2,1
// apo:scratch    states 16384*B*H
// apo:scratch    deltas 1024*B*H
// apo:launch     backward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES shared=SEQUENCES*20576
#include "e88_backward.args.h"

namespace {

using bf16 = __nv_bfloat16;

constexpr int kSegment = 16, kHalf = 8;  // steps between two checkpoints, and those whose states are kept at a time
constexpr int kSide = 32;                // N = V = 32
constexpr int kState = kSide * kSide;
constexpr int kTileRows = 8, kTileColumns = 4;  // of the state, in the registers of a lane
constexpr unsigned kAll = 0xffffffffu;

// What a warp keeps in shared memory for half a segment. dk^, dq^ and dv replace k^, q^ and dy of a step once it has
// used them, and the lanes' parts of ddecay replace delta.
struct Work {
  uint4 history[kHalf][4][32];  // S_{t-1} in fp16, as the lanes hold it
  float k[kHalf][kSide], q[kHalf][kSide], dy[kHalf][kSide], delta[kHalf][kSide];
  float decay[kHalf], k_factor[kHalf], q_factor[kHalf];
};

// Lane (g, c), g = lane % 4 and c = lane / 4, owns rows 8g..8g+7 and columns 4c..4c+3.
using Tile = float[kTileRows][kTileColumns];

struct Place {
  int lane, group, column;
  int swap;  // lanes of the upper half hold the two halves of their rows in reverse order, which saves selects
  __device__ explicit Place(int thread) : lane(thread % 32), group(lane % 4), column(lane / 4), swap(lane / 16) {}
  __device__ int row(int r) const { return 8 * group + (r ^ (4 * swap)); }
};

__device__ float low(unsigned pair) {
  return __uint_as_float(pair << 16);
}

__device__ float high(unsigned pair) {
  return __uint_as_float(pair & 0xffff0000u);
}

__device__ unsigned pack(float first, float second) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

// fp16 for the states of a segment: |S| <= 1 but for s0, and 1 - S^2 needs the three bits that bf16 lacks near 1.
__device__ unsigned pack_half(float first, float second) {
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

__device__ float half_low(unsigned pair) {
  float x;
  asm("{ .reg .b16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, a; }" : "=f"(x) : "r"(pair));
  return x;
}

__device__ float half_high(unsigned pair) {
  float x;
  asm("{ .reg .b16 a, b; mov.b32 {a, b}, %1; cvt.f32.f16 %0, b; }" : "=f"(x) : "r"(pair));
  return x;
}

// One special-function instruction; relative error up to 2^-11, which the contract allows.
__device__ float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// 1 / (1 + e^-x), two special-function instructions
__device__ float logistic(float x) {
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.44269504f));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return inverse;
}

// Eight neighbours of a row; four lanes hold a row in the phases before and after the recurrence.
struct Eight {
  float x[8];
};

__device__ Eight load_eight(const bf16* from, bool there) {
  const uint4 words = there ? *reinterpret_cast<const uint4*>(from) : uint4{};
  return {low(words.x), high(words.x), low(words.y), high(words.y),
          low(words.z), high(words.z), low(words.w), high(words.w)};
}

__device__ Eight load_eight(const float* from) {
  const float4 a = *reinterpret_cast<const float4*>(from), b = *reinterpret_cast<const float4*>(from + 4);
  return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
}

__device__ void store_eight(const Eight& values, float* to) {
  const float* x = values.x;
  *reinterpret_cast<float4*>(to) = make_float4(x[0], x[1], x[2], x[3]);
  *reinterpret_cast<float4*>(to + 4) = make_float4(x[4], x[5], x[6], x[7]);
}

__device__ void store_eight(const Eight& values, bf16* to, bool there) {
  const float* x = values.x;
  if (there) {
    *reinterpret_cast<uint4*>(to) = make_uint4(pack(x[0], x[1]), pack(x[2], x[3]), pack(x[4], x[5]), pack(x[6], x[7]));
  }
}

__device__ float sum_of_four_lanes(float x) {
  x += __shfl_xor_sync(kAll, x, 1);
  return x + __shfl_xor_sync(kAll, x, 2);
}

__device__ float dot(const Eight& a, const Eight& b) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    sum += a.x[i] * b.x[i];
  }
  return sum_of_four_lanes(sum);
}

// x^ from x, and its factor
__device__ float normalise(Eight& values) {
  if (!kNORM) {
    return 1.0f;
  }
  const float factor = rsqrtf(dot(values, values) + 1e-12f);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    values.x[i] *= factor;
  }
  return factor;
}

// Where a lane works before and after the recurrence: elements part..part+7 of step `step`.
struct Slice {
  int step, part;
  bool there;
  long long row, at;
  __device__ Slice(const e88_backward_args& a, const Place& p, long long first_row, int steps)
      : step(p.lane / 4),
        part(p.lane % 4 * 8),
        there(step < steps),
        row(first_row + step * a.H),
        at(row * kSide + part) {}
};

// k^ and a, and v where delta will stand
__device__ void prepare_keys(const e88_backward_args& a, Work& w, const Slice& z) {
  Eight k = load_eight(a.k + z.at, z.there);
  const Eight v = load_eight(a.v + z.at, z.there);
  w.k_factor[z.step] = normalise(k);
  store_eight(k, &w.k[z.step][z.part]);
  store_eight(v, &w.delta[z.step][z.part]);
  if (z.part == 0) {
    w.decay[z.step] = z.there ? __bfloat162float(a.decay[z.row]) : 0.0f;
  }
}

// q^, dy = d_output * silu(g), and dg = d_output * y * silu'(g); without a gate o = y.
__device__ void prepare_reverse(const e88_backward_args& a, Work& w, const Slice& z) {
  Eight q = load_eight(a.q + z.at, z.there), dy = load_eight(a.d_output + z.at, z.there), dg = {};
  w.q_factor[z.step] = normalise(q);
  store_eight(q, &w.q[z.step][z.part]);
  if (kGATE) {
    const Eight g = load_eight(a.g + z.at, z.there), y = load_eight(a.y_cache + z.at, z.there);
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

// dx = (dx^ - x^ (x^ . dx^)) f with x^ = f x and f = rsqrt(|x|^2 + epsilon)
__device__ void finish_gradient(const bf16* x, const float* gradient, float factor, bf16* dx, const Slice& z) {
  Eight d = load_eight(gradient);
  if (kNORM) {
    const Eight raw = load_eight(x + z.at, z.there);
    const float along = dot(raw, d) * factor * factor * factor;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      d.x[i] = d.x[i] * factor - raw.x[i] * along;
    }
  }
  store_eight(d, dx + z.at, z.there);
}

__device__ void finish(const e88_backward_args& a, const Work& w, const Slice& z) {
  finish_gradient(a.k, &w.k[z.step][z.part], w.k_factor[z.step], a.dk, z);
  finish_gradient(a.q, &w.q[z.step][z.part], w.q_factor[z.step], a.dq, z);
  store_eight(load_eight(&w.dy[z.step][z.part]), a.dv + z.at, z.there);
  const Eight parts = load_eight(&w.delta[z.step][z.part]);
  const Eight ones = {1, 1, 1, 1, 1, 1, 1, 1};
  const float d_decay = dot(parts, ones);
  if (z.there && z.part == 0) {
    a.ddecay[z.row] = __float2bfloat16(d_decay);
  }
}

// Asks the L2 for the segment before, so that its loads wait for the L2 only.
__device__ void prefetch(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

__device__ void prefetch_segment(const e88_backward_args& a, const Place& p, long long row, const bf16* checkpoint) {
  const long long at = (row + p.lane / 2 * a.H) * kSide + p.lane % 2 * (kSide / 2);  // 32 bytes of 16 rows
  prefetch(a.k + at);
  prefetch(a.v + at);
  prefetch(a.q + at);
  prefetch(a.d_output + at);
  if (kGATE) {
    prefetch(a.g + at);
    prefetch(a.y_cache + at);
  }
  prefetch(checkpoint + p.lane * 16);
  prefetch(checkpoint + p.lane * 16 + kState / 2);
}

// The state of one sequence at `from`, row-major.
__device__ void load_tile(const Place& p, const bf16* from, Tile& S) {
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    const uint2 words = *reinterpret_cast<const uint2*>(from + p.row(r) * kSide + 4 * p.column);
    S[r][0] = low(words.x);
    S[r][1] = high(words.x);
    S[r][2] = low(words.y);
    S[r][3] = high(words.y);
  }
}

// Entries of k^ or q^ for the rows of the lane.
__device__ void load_rows(const Place& p, const float* from, float (&x)[kTileRows]) {
#pragma unroll
  for (int r = 0; r < kTileRows; r += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + p.row(r));
    x[r] = four.x;
    x[r + 1] = four.y;
    x[r + 2] = four.z;
    x[r + 3] = four.w;
  }
}

__device__ void load_columns(const Place& p, const float* from, float (&x)[kTileColumns]) {
  const float4 four = *reinterpret_cast<const float4*>(from + 4 * p.column);
  x[0] = four.x;
  x[1] = four.y;
  x[2] = four.z;
  x[3] = four.w;
}

// sum_i S[i][j] x[i] over the lane's rows of its columns
__device__ void partial_sums(const Tile& S, const float (&x)[kTileRows], float (&sums)[kTileColumns]) {
#pragma unroll
  for (int c = 0; c < kTileColumns; ++c) {
    float even = 0, odd = 0;
#pragma unroll
    for (int r = 0; r < kTileRows; r += 2) {
      even += S[r][c] * x[r];
      odd += S[r + 1][c] * x[r + 1];
    }
    sums[c] = even + odd;
  }
}

// Adds up the partial sums of the four lanes that share the columns.
__device__ void add_groups(float (&sums)[kTileColumns], int step) {
#pragma unroll
  for (int c = 0; c < kTileColumns; ++c) {
    sums[c] += __shfl_xor_sync(kAll, sums[c], step);
  }
}

// One of the three exchanges that sum x[r] over the eight lanes that share the rows: kLeft values are left. After the
// last, x[0] is the sum of row 8 * group + column. What is kept in the first one stands in x[0..3] on either side: see
// Place::swap.
template <int kLeft>
__device__ void exchange(const Place& p, float (&x)[kTileRows]) {
  const bool upper = kLeft < 4 && (p.lane & (4 * kLeft));
#pragma unroll
  for (int r = 0; r < kLeft; ++r) {
    const float low_half = x[r], high_half = x[r + kLeft];
    x[r] = (upper ? high_half : low_half) + __shfl_xor_sync(kAll, upper ? low_half : high_half, 4 * kLeft);
  }
}

// Where the states of the lower half wait in memory, in the form of Work::history, and their deltas.
struct Below {
  uint4 (*states)[4][32];
  float (*deltas)[kSide];
};

__device__ void keep(uint4 (*to)[32], float* delta, const Place& p, const uint4 (&states)[4], const float4& deltas) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[i][p.lane] = states[i];
  }
  if (p.group == 0) {
    *reinterpret_cast<float4*>(delta + 4 * p.column) = deltas;
  }
}

// The steps of half a segment; leaves S_{t-1} and delta of each for the reverse steps, in shared memory where
// `resident`. What the next step retrieves is summed as soon as tanh delivers.
__device__ void replay(Work& w, const Place& p, const Below& below, int steps, bool resident, Tile& S) {
  float k[kTileRows], retrieved[kTileColumns];
  load_rows(p, w.k[0], k);
  partial_sums(S, k, retrieved);
#pragma unroll 1
  for (int s = 0; s < steps; ++s) {
    float v[kTileColumns], delta[kTileColumns], next_k[kTileRows];
    load_columns(p, w.delta[s], v);
    load_rows(p, w.k[s], k);
    load_rows(p, w.k[min(s + 1, kHalf - 1)], next_k);
    const float decay = w.decay[s];
    add_groups(retrieved, 1);
    add_groups(retrieved, 2);
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
      delta[c] = v[c] - retrieved[c];
      retrieved[c] = 0;
    }
    uint4 states[4];
#pragma unroll
    for (int r = 0; r < kTileRows; r += 2) {
      states[r / 2] = make_uint4(pack_half(S[r][0], S[r][1]), pack_half(S[r][2], S[r][3]),
                                 pack_half(S[r + 1][0], S[r + 1][1]), pack_half(S[r + 1][2], S[r + 1][3]));
    }
    const float4 deltas = make_float4(delta[0], delta[1], delta[2], delta[3]);
    __syncwarp();  // every lane has read its v
    if (resident) {
      keep(w.history[s], w.delta[s], p, states, deltas);
    } else {
      keep(below.states[s], below.deltas[s], p, states, deltas);
    }
#pragma unroll
    for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
      for (int c = 0; c < kTileColumns; ++c) {
        S[r][c] = tanh_approx(decay * S[r][c] + k[r] * delta[c]);
        retrieved[c] += S[r][c] * next_k[r];
      }
    }
  }
}

__device__ void load_states(const Work& w, const Place& p, const Below& below, int s, bool resident,
                            uint4 (&before)[4]) {
  if (resident) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      before[i] = w.history[s][i][p.lane];
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      before[i] = below.states[s][i][p.lane];
    }
  }
}

// Turns D = dL/dS_t into dL/dS_{t-1} and S = S_t into S_{t-1}; leaves the step's gradients in `w`, but for
// dk^: `dk` is that of the step after and is summed meanwhile. `before` is S_{t-1}.
__device__ void reverse_step(Work& w, const Place& p, int s, bool is_last, const uint4 (&before)[4], Tile& S, Tile& D,
                             float (&dk)[kTileRows]) {
  float k[kTileRows], q[kTileRows], dy[kTileColumns], delta[kTileColumns];
  load_rows(p, w.k[s], k);
  load_rows(p, w.q[s], q);
  load_columns(p, w.dy[s], dy);
  load_columns(p, w.delta[s], delta);
  const float decay = w.decay[s];
  float dq[kTileRows], next_dk[kTileRows], d_delta[kTileColumns], d_decay = 0;
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    dq[r] = 0;
    next_dk[r] = 0;
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
      dq[r] += S[r][c] * dy[c];
      D[r][c] = (D[r][c] + q[r] * dy[c]) * (1.0f - S[r][c] * S[r][c]);
      next_dk[r] += D[r][c] * delta[c];
    }
  }
  partial_sums(D, k, d_delta);
  add_groups(d_delta, 1);
  exchange<4>(p, dq);
  exchange<4>(p, dk);
  add_groups(d_delta, 2);
  exchange<2>(p, dq);
  exchange<2>(p, dk);
  exchange<1>(p, dq);
  exchange<1>(p, dk);
#pragma unroll
  for (int r = 0; r < kTileRows; r += 2) {
    const unsigned pairs[4] = {before[r / 2].x, before[r / 2].y, before[r / 2].z, before[r / 2].w};
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const int row = r + e / 4, c = e % 4;
      const float earlier = e % 2 == 0 ? half_low(pairs[e / 2]) : half_high(pairs[e / 2]);
      d_decay += D[row][c] * earlier;
      next_dk[row] -= earlier * d_delta[c];
      D[row][c] = decay * D[row][c] - k[row] * d_delta[c];
      S[row][c] = earlier;
    }
  }
  __syncwarp();  // every lane has read its share of the step
  w.q[s][8 * p.group + p.column] = dq[0];
  if (!is_last) {
    w.k[s + 1][8 * p.group + p.column] = dk[0];
  }
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    dk[r] = next_dk[r];
  }
  w.delta[s][p.lane] = d_decay;
  if (p.group == 0) {
    *reinterpret_cast<float4*>(&w.dy[s][4 * p.column]) = make_float4(d_delta[0], d_delta[1], d_delta[2], d_delta[3]);
  }
}

__device__ void reverse(Work& w, const Place& p, const Below& below, int steps, bool resident, Tile& S, Tile& D) {
  float dk[kTileRows] = {};
#pragma unroll 1
  for (int s = steps - 1; s >= 0; --s) {
    uint4 before[4];
    load_states(w, p, below, s, resident, before);
    reverse_step(w, p, s, s == steps - 1, before, S, D, dk);
  }
  exchange<4>(p, dk);
  exchange<2>(p, dk);
  exchange<1>(p, dk);
  w.k[0][8 * p.group + p.column] = dk[0];
}

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) backward(const e88_backward_args a) {
  extern __shared__ uint4 shared[];
  Work& w = reinterpret_cast<Work*>(shared)[threadIdx.x / 32];
  const Place p(threadIdx.x);
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
      prefetch_segment(a, p, (b * a.T + first - kSegment) * a.H + h,
                       a.checkpoints + ((first / kSegment - 1) * a.B * a.H + sequence) * kState);
    }
    // Shared memory holds the states of half a segment; those of the lower half wait in memory.
    load_tile(p, a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState, S);
    const int top = steps > kHalf ? 1 : 0;
    for (int half = top; half >= 0; --half) {
      const int count = min(kHalf, steps - half * kHalf);
      const Slice slice(a, p, (b * a.T + first + half * kHalf) * a.H + h, count);
      for (int part = half == top ? 0 : half; part <= half; ++part) {
        const int part_steps = min(kHalf, steps - part * kHalf);
        prepare_keys(a, w, Slice(a, p, (b * a.T + first + part * kHalf) * a.H + h, part_steps));
        __syncwarp();
        if (half == top) {
          replay(w, p, below, part_steps, part == top, S);
          __syncwarp();
        }
      }
      if (half != top) {
        store_eight(load_eight(&below.deltas[slice.step][slice.part]), &w.delta[slice.step][slice.part]);
      }
      prepare_reverse(a, w, slice);
      __syncwarp();
      reverse(w, p, below, count, half == top, S, D);
      __syncwarp();
      finish(a, w, slice);
      __syncwarp();
    }
  }
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    *reinterpret_cast<uint2*>(a.ds0 + sequence * kState + p.row(r) * kSide + 4 * p.column) =
        make_uint2(pack(D[r][0], D[r][1]), pack(D[r][2], D[r][3]));
  }
}
