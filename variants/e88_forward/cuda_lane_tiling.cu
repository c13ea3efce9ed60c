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

namespace {

using bf16 = __nv_bfloat16;

constexpr int kSegment = 16;  // steps between two checkpoints, and of a chunk
constexpr int kRows = kN, kColumns = kV, kState = kRows * kColumns;
constexpr int kWidth = 16;                              // columns of a warp
constexpr int kTileRows = kRows / 4, kTileColumns = 2;  // of the state, in the registers of a lane
constexpr int kRowLanes = kRows / 8;                    // that hold a row of k or q, eight entries each: 2 or 4
constexpr int kPasses = kSegment * kRowLanes / 32;
constexpr unsigned kAll = 0xffffffffu;

using Tile = float[kTileRows][kTileColumns];

// What a warp keeps in shared memory for a chunk.
struct Work {
  alignas(16) float k[kSegment][kRows];
  alignas(16) float q[kSegment][kRows];
  alignas(16) float y[kSegment][kWidth];
  alignas(16) bf16 v[kSegment][kWidth];
  float decay[kSegment];
};

// The inputs of a chunk on their way from memory: eight neighbours a word group.
struct Inputs {
  uint4 k[kPasses], q[kPasses], v, g;
  float decay;
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

// One special-function instruction; relative error up to 2^-11, which the contract allows.
__device__ float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

struct Eight {
  float x[8];
};

__device__ Eight unpack(const uint4& words) {
  return {low(words.x), high(words.x), low(words.y), high(words.y),
          low(words.z), high(words.z), low(words.w), high(words.w)};
}

__device__ uint4 pack(const Eight& values) {
  const float* x = values.x;
  return make_uint4(pack(x[0], x[1]), pack(x[2], x[3]), pack(x[4], x[5]), pack(x[6], x[7]));
}

// Where a lane works before and after the recurrence: elements part..part+7 of the warp's columns in step `step`.
struct Slice {
  int step, part;
  __device__ explicit Slice(int lane) : step(lane / 2), part(lane % 2 * 8) {}
};

__device__ void fetch(const e88_forward_args& a, Inputs& in, int lane, long long row, int steps, int first_column) {
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    const int s = (pass * 32 + lane) / kRowLanes;
    const long long at = (row + s * a.H) * kRows + lane % kRowLanes * 8;
    in.k[pass] = s < steps ? *reinterpret_cast<const uint4*>(a.k + at) : uint4{};
    in.q[pass] = s < steps ? *reinterpret_cast<const uint4*>(a.q + at) : uint4{};
  }
  const Slice z(lane);
  const long long at = (row + z.step * a.H) * kColumns + first_column + z.part;
  in.v = z.step < steps ? *reinterpret_cast<const uint4*>(a.v + at) : uint4{};
  in.g = kGATE && z.step < steps ? *reinterpret_cast<const uint4*>(a.g + at) : uint4{};
  in.decay = lane < steps ? __bfloat162float(a.decay[row + lane * a.H]) : 0.0f;
}

__device__ void store_unit(const uint4& words, float* to) {
  Eight x = unpack(words);
  float squares = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    squares += x.x[i] * x.x[i];
  }
#pragma unroll
  for (int step = kRowLanes / 2; step > 0; step /= 2) {
    squares += __shfl_xor_sync(kAll, squares, step);
  }
  const float factor = kNORM ? rsqrtf(squares + 1e-12f) : 1.0f;
  float4* four = reinterpret_cast<float4*>(to);
  four[0] = make_float4(x.x[0] * factor, x.x[1] * factor, x.x[2] * factor, x.x[3] * factor);
  four[1] = make_float4(x.x[4] * factor, x.x[5] * factor, x.x[6] * factor, x.x[7] * factor);
}

__device__ void deposit(const Inputs& in, Work& w, int lane) {
#pragma unroll
  for (int pass = 0; pass < kPasses; ++pass) {
    const int s = (pass * 32 + lane) / kRowLanes, part = lane % kRowLanes * 8;
    store_unit(in.k[pass], &w.k[s][part]);
    store_unit(in.q[pass], &w.q[s][part]);
  }
  const Slice z(lane);
  *reinterpret_cast<uint4*>(&w.v[z.step][z.part]) = in.v;
  if (lane < kSegment) {
    w.decay[lane] = in.decay;
  }
}

// y_cache and the gated output of a chunk, 16 bytes a lane.
__device__ void finish(const e88_forward_args& a, const Work& w, const uint4& g_words, int lane, long long row,
                       int steps, int first_column) {
  const Slice z(lane);
  if (z.step < steps) {
    Eight y;
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
      const float4 four = *reinterpret_cast<const float4*>(&w.y[z.step][z.part + i]);
      y.x[i] = four.x;
      y.x[i + 1] = four.y;
      y.x[i + 2] = four.z;
      y.x[i + 3] = four.w;
    }
    const long long at = (row + z.step * a.H) * kColumns + first_column + z.part;
    *reinterpret_cast<uint4*>(a.y_cache + at) = pack(y);
    if (kGATE) {
      const Eight g = unpack(g_words);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        y.x[i] *= g.x[i] * __fdividef(1.0f, 1.0f + __expf(-g.x[i]));
      }
    }
    *reinterpret_cast<uint4*>(a.output + at) = pack(y);
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

// sum_i S[i][j] x[i] of the lane's columns, in all four lanes that share them
__device__ void column_sums(const Tile& S, const float (&x)[kTileRows], float (&sums)[kTileColumns]) {
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
#pragma unroll
  for (int step = 1; step <= 2; step *= 2) {
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
      sums[c] += __shfl_xor_sync(kAll, sums[c], step);
    }
  }
}

__device__ void step(Work& w, int s, int group, int column, Tile& S) {
  float k[kTileRows], q[kTileRows], sums[kTileColumns];
  load_rows(w.k[s], group, k);
  load_rows(w.q[s], group, q);
  const unsigned v = *reinterpret_cast<const unsigned*>(&w.v[s][column]);
  const float decay = w.decay[s];
  column_sums(S, k, sums);
  const float delta[kTileColumns] = {low(v) - sums[0], high(v) - sums[1]};
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
      S[r][c] = tanh_approx(decay * S[r][c] + k[r] * delta[c]);
    }
  }
  column_sums(S, q, sums);
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
  Inputs in;
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
    const uint4 g = in.g;
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
