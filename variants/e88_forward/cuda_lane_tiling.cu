// apo:variant    e88_forward/cuda_lane_tiling
// apo:target     cuda sm_80
// apo:technique  lane-tiling
// apo:technique  split-sequence
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  fused-gate
// apo:parent     cuda_register_chunk
// apo:idea       A warp takes 16 columns, a lane N/4 rows of two of them: twice the warps, a quarter of the k and q loads, outputs gated and stored 16 steps at a time.
// apo:predict    1.15x..1.6x over parent: 0.22..0.3 ms at b16_t512_h83_n32; half the chain of a step a warp, and twice the warps to fill the special-function unit.
// apo:requires   (N == 16 || N == 32) && V % 16 == 0 && B*H*V <= 2147483647
// apo:tune       WARPS 2,1,4
// apo:launch     forward grid=ceil_div(B*H*V/16,WARPS) block=32*WARPS
#include "e88_forward.args.h"
#include "e88_tiles.cuh"
#include "lane_chunks.cuh"

namespace {

constexpr int kWidth = 16;                              // columns of a warp
constexpr int kTileRows = kRows / 4, kTileColumns = 2;  // of the state, in the registers of a lane

using Tile = float[kTileRows][kTileColumns];

// What a warp keeps in shared memory for a chunk.
struct Work {
  alignas(16) float k[kSegment][kRows];
  alignas(16) float q[kSegment][kRows];
  alignas(16) float y[kSegment][kWidth];
  alignas(16) bf16 v[kSegment][kWidth];
  float decay[kSegment];
};

__device__ void fetch(const e88_forward_args& a, Inputs<kWidth>& in, int lane, long long row, int steps,
                      int first_column) {
  fetch_rows(a, in, lane, row, steps);
  const int step = lane / 2, part = lane % 2 * 8;
  const long long at = (row + step * a.H) * kColumns + first_column + part;
  in.v[0] = step < steps ? *reinterpret_cast<const uint4*>(a.v + at) : uint4{};
  in.g[0] = kGATE && step < steps ? *reinterpret_cast<const uint4*>(a.g + at) : uint4{};
  in.decay = lane < steps ? load(a.decay[row + lane * a.H]) : 0.0f;
}

__device__ void finish(const e88_forward_args& a, const Work& w, const uint4& g, int lane, long long row, int steps,
                       int first_column) {
  const int step = lane / 2, part = lane % 2 * 8;
  if (step < steps) {
    const long long at = (row + step * a.H) * kColumns + first_column + part;
    store_output<logistic_by_division>(a, load_eight(&w.y[step][part]), g, at);
  }
}

__device__ void load_rows(const float* from, int group, float (&x)[kTileRows]) {
#pragma unroll
  for (int r = 0; r < kTileRows; r += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + kTileRows * group + r);
    x[r] = four.x;
    x[r + 1] = four.y;
    x[r + 2] = four.z;
    x[r + 3] = four.w;
  }
}

__device__ void step(Work& w, int s, int group, int column, Tile& S) {
  float k[kTileRows], q[kTileRows], sums[kTileColumns];
  load_rows(w.k[s], group, k);
  load_rows(w.q[s], group, q);
  const unsigned v = *reinterpret_cast<const unsigned*>(&w.v[s][column]);
  const float decay = w.decay[s];
  column_sums(group, S, k, sums);
  const float delta[kTileColumns] = {low(v) - sums[0], high(v) - sums[1]};
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
      S[r][c] = tanh_approx(decay * S[r][c] + k[r] * delta[c]);
    }
  }
  column_sums(group, S, q, sums);
  if (group == 0) {
    *reinterpret_cast<float2*>(&w.y[s][column]) = make_float2(sums[0], sums[1]);
  }
}

}  // namespace

// Lane (g, c), g = lane % 4 and c = lane / 4, owns rows g N/4 .. (g+1) N/4 - 1 of two neighbouring columns.
extern "C" __global__ void __launch_bounds__(32 * WARPS) forward(const e88_forward_args a) {
  __shared__ Work works[WARPS];
  Work& w = works[threadIdx.x / 32];
  const int lane = threadIdx.x % 32, group = lane % 4, column = lane / 4 * 2;
  constexpr int parts = kColumns / kWidth;
  const long long unit = blockIdx.x * WARPS + threadIdx.x / 32, sequence = unit / parts;
  const long long b = sequence / a.H, h = sequence % a.H;
  if (sequence >= a.B * a.H) {
    return;  // warps never wait for one another
  }
  const int first_column = unit % parts * kWidth;
  const long long place = sequence * kState + kTileRows * group * kColumns + first_column + column;
  Tile S;
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    const unsigned pair = *reinterpret_cast<const unsigned*>(a.s0 + place + r * kColumns);
    S[r][0] = low(pair);
    S[r][1] = high(pair);
  }
  Inputs<kWidth> in;
  fetch(a, in, lane, b * a.T * a.H + h, min(static_cast<long long>(kSegment), a.T), first_column);
  for (long long first = 0; first < a.T; first += kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    const long long row = (b * a.T + first) * a.H + h;
    bf16* checkpoint = a.checkpoints + first / kSegment * a.B * a.H * kState + place;
#pragma unroll
    for (int r = 0; r < kTileRows; ++r) {
      *reinterpret_cast<unsigned*>(checkpoint + r * kColumns) = pack(S[r][0], S[r][1]);
    }
    deposit(in, w, lane);
    const uint4 g = in.g[0];
    __syncwarp();
    if (first + kSegment < a.T) {
      const int ahead = min(static_cast<long long>(kSegment), a.T - first - kSegment);
      fetch(a, in, lane, row + kSegment * a.H, ahead, first_column);
    }
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      step(w, s, group, column, S);
    }
    __syncwarp();
    finish(a, w, g, lane, row, steps, first_column);
    __syncwarp();
  }
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    *reinterpret_cast<unsigned*>(a.s_final + place + r * kColumns) = pack(S[r][0], S[r][1]);
  }
}
