// apo:variant    e88_forward/cuda_product_tiles
// apo:target     cuda sm_80
// apo:technique  tensor-core
// apo:technique  lane-tiling
// apo:technique  register-owned
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  fused-gate
// apo:parent     cuda_best
// apo:idea       A lane has a tile of 8 x 4; retrieval and y are eight fp16 products a step with the upper and lower halves of k and q, so that tanh alone keeps a warp busy.
// apo:predict    0.90x..1.08x over parent: 207 instructions a step where 201 are, but 6 loads from shared memory where 19 are; the special functions, 256 cycles a step and warp, stay the bound.
// apo:requires   N == 32 && V == 32 && B*H <= 2147483647
// apo:tune       SEQUENCES 1,2,4
// apo:launch     forward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES
#include "e88_forward.args.h"
#include "e88_tiles.cuh"
#include "half_products.cuh"
#include "lane_chunks.cuh"

namespace {

// What a warp keeps in shared memory for a chunk.
struct Work {
  HalfVector half_k[kSegment + 1], half_q[kSegment];  // the last k is read but never used
  alignas(16) float k[kSegment][kRows];
  alignas(16) float y[kSegment][kColumns];
  alignas(16) bf16 v[kSegment][kColumns];
  float decay[kSegment];
};

__device__ void fetch(const e88_forward_args& a, Inputs<kColumns>& in, int lane, long long row, int steps) {
  fetch_rows(a, in, lane, row, steps);
#pragma unroll
  for (int pass = 0; pass < kColumnPasses<kColumns>; ++pass) {
    const int s = (pass * 32 + lane) / (kColumns / 8);
    const long long at = (row + s * a.H) * kColumns + lane % (kColumns / 8) * 8;
    in.v[pass] = s < steps ? *reinterpret_cast<const uint4*>(a.v + at) : uint4{};
    in.g[pass] = kGATE && s < steps ? *reinterpret_cast<const uint4*>(a.g + at) : uint4{};
  }
  in.decay = lane < steps ? load(a.decay[row + lane * a.H]) : 0.0f;
}

__device__ void finish(const e88_forward_args& a, const Work& w, const uint4 (&gates)[kColumnPasses<kColumns>],
                       int lane, long long row, int steps) {
#pragma unroll
  for (int pass = 0; pass < kColumnPasses<kColumns>; ++pass) {
    const int s = (pass * 32 + lane) / (kColumns / 8), part = lane % (kColumns / 8) * 8;
    if (s < steps) {
      store_output<logistic>(a, load_eight(&w.y[s][part]), gates[pass], (row + s * a.H) * kColumns + part);
    }
  }
}

// k^ or q^ of 8 steps: four neighbouring lanes hold a row, eight entries each.
__device__ Eight unit_of(const uint4& words) {
  Eight x = unpack(words);
  const float squares = sum_of_lanes<4>(dot_of_eight(x, x));
  scale(x, kNORM ? rsqrtf(squares + 1e-12f) : 1.0f);
  return x;
}

__device__ void deposit_inputs(const Inputs<kColumns>& in, Work& w, int lane) {
  const int part = lane % 4 * 8;
#pragma unroll
  for (int pass = 0; pass < 2; ++pass) {
    const int s = 8 * pass + lane / 4;
    const Eight k = unit_of(in.k[pass]);
    store_eight(k, &w.k[s][part]);
    w.half_k[s].store(k, part);
    w.half_q[s].store(unit_of(in.q[pass]), part);
    *reinterpret_cast<uint4*>(&w.v[s][part]) = in.v[pass];
  }
  if (lane < kSegment) {
    w.decay[lane] = in.decay;
  }
}

// Lane (t, g), t = lane % 4 and g = lane / 4, has rows 8t..8t+7 and columns 4g..4g+3.
using Tile = float[8][4];

__device__ void pack_tile(const Tile& S, uint4 (&to)[4]) {
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    Eight scaled;
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      scaled.x[r] = S[r][c] * kHalfScale;
    }
    to[c] = upper_halves(scaled);
  }
}

__device__ void store_tile(const Tile& S, bf16* to) {
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    *reinterpret_cast<uint2*>(to + r * kColumns) = make_uint2(pack(S[r][0], S[r][1]), pack(S[r][2], S[r][3]));
  }
}

// One step; `retrieved` is kHalfScale sum_i S[i][j] k^[i], and of the next step afterwards.
__device__ void step(Work& w, int s, int lane, Tile& S, float (&retrieved)[4]) {
  const float4 low_k = *reinterpret_cast<const float4*>(&w.k[s][lane % 4 * 8]);
  const float4 high_k = *reinterpret_cast<const float4*>(&w.k[s][lane % 4 * 8 + 4]);
  const float k[8] = {low_k.x, low_k.y, low_k.z, low_k.w, high_k.x, high_k.y, high_k.z, high_k.w};
  const uint2 v = *reinterpret_cast<const uint2*>(&w.v[s][lane / 4 * 4]);
  const uint4 next_k = w.half_k[s + 1].operand(), q = w.half_q[s].operand();
  const float decay = w.decay[s];
  constexpr float kInverse = 1.0f / kHalfScale;
  const float delta[4] = {low(v.x) - retrieved[0] * kInverse, high(v.x) - retrieved[1] * kInverse,
                          low(v.y) - retrieved[2] * kInverse, high(v.y) - retrieved[3] * kInverse};
#pragma unroll
  for (int c = 0; c < 4; ++c) {
#pragma unroll
    for (int r = 0; r < 8; ++r) {
      S[r][c] = tanh_approx(decay * S[r][c] + k[r] * delta[c]);
    }
  }
  uint4 words[4];
  float y[4];
  pack_tile(S, words);
  sums_over_rows(words, next_k, retrieved);
  sums_over_rows(words, q, y);
  if (lane % 4 == 0) {
    *reinterpret_cast<float4*>(&w.y[s][lane]) =
        make_float4(y[0] * kInverse, y[1] * kInverse, y[2] * kInverse, y[3] * kInverse);
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) forward(const e88_forward_args a) {
  __shared__ Work works[SEQUENCES];
  Work& w = works[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const long long sequence = blockIdx.x * SEQUENCES + threadIdx.x / 32, b = sequence / a.H, h = sequence % a.H;
  if (sequence >= a.B * a.H) {
    return;  // warps never wait for one another
  }
  const long long place = sequence * kState + lane % 4 * 8 * kColumns + lane / 4 * 4;
  Tile S;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const uint2 words = *reinterpret_cast<const uint2*>(a.s0 + place + r * kColumns);
    S[r][0] = low(words.x);
    S[r][1] = high(words.x);
    S[r][2] = low(words.y);
    S[r][3] = high(words.y);
  }
  if (lane < 8) {
    w.half_k[kSegment].parts[lane] = uint4{};
  }
  Inputs<kColumns> in;
  fetch(a, in, lane, b * a.T * a.H + h, min(static_cast<long long>(kSegment), a.T));
  for (long long first = 0; first < a.T; first += kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    const long long row = (b * a.T + first) * a.H + h;
    store_tile(S, a.checkpoints + first / kSegment * a.B * a.H * kState + place);
    deposit_inputs(in, w, lane);
    uint4 g[kColumnPasses<kColumns>];
#pragma unroll
    for (int pass = 0; pass < kColumnPasses<kColumns>; ++pass) {
      g[pass] = in.g[pass];
    }
    __syncwarp();
    if (first + kSegment < a.T) {
      fetch(a, in, lane, row + kSegment * a.H, min(static_cast<long long>(kSegment), a.T - first - kSegment));
    }
    uint4 words[4];
    float retrieved[4];
    pack_tile(S, words);
    sums_over_rows(words, w.half_k[0].operand(), retrieved);
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      step(w, s, lane, S, retrieved);
    }
    __syncwarp();
    finish(a, w, g, lane, row, steps);
    __syncwarp();
  }
  store_tile(S, a.s_final + place);
}
