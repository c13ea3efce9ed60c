// apo:variant    e88_forward/cuda_best
// apo:target     cuda sm_80
// apo:technique  merged-sums
// apo:technique  register-owned
// apo:technique  chunk-prefetch
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  fused-gate
// apo:parent     cuda_register_chunk
// apo:idea       y and the next retrieval are summed as tanh delivers, in the shadow of the special-function unit; outputs are gated and stored 16 steps at a time.
// apo:predict    1.2x..1.6x over parent: 0.22..0.3 ms at b16_t512_h83_n32; the chain of a step loses two sums and some 60 issue slots of 290 go.
// apo:requires   (N == 16 || N == 32) && (V == 16 || V == 32) && B*H <= 2147483647
// apo:tune       SEQUENCES 1,2,4
// apo:launch     forward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES
#include "e88_forward.args.h"

namespace {

using bf16 = __nv_bfloat16;

constexpr int kSegment = 16;  // steps between two checkpoints, and of a chunk
constexpr int kRows = kN, kColumns = kV, kState = kRows * kColumns;
constexpr int kRowLanes = kRows / 8,
              kColumnLanes = kColumns / 8;  // 2 or 4 that hold a row of k or v, eight entries each
constexpr int kRowPasses = kSegment * kRowLanes / 32, kColumnPasses = kSegment * kColumnLanes / 32;
constexpr unsigned kAll = 0xffffffffu;

// What a warp keeps in shared memory for a chunk.
struct Work {
  alignas(16) float k[kSegment + 1][kRows];  // the last row is read but never used
  alignas(16) float q[kSegment][kRows];
  alignas(16) float y[kSegment][kColumns];
  alignas(16) bf16 v[kSegment][kColumns];
  float decay[kSegment];
};

// The inputs of a chunk on their way from memory: eight neighbours a word group.
struct Inputs {
  uint4 k[kRowPasses], q[kRowPasses], v[kColumnPasses], g[kColumnPasses];
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

__device__ void fetch(const e88_forward_args& a, Inputs& in, int lane, long long row, int steps) {
#pragma unroll
  for (int pass = 0; pass < kRowPasses; ++pass) {
    const int s = (pass * 32 + lane) / kRowLanes;
    const long long at = (row + s * a.H) * kRows + lane % kRowLanes * 8;
    in.k[pass] = s < steps ? *reinterpret_cast<const uint4*>(a.k + at) : uint4{};
    in.q[pass] = s < steps ? *reinterpret_cast<const uint4*>(a.q + at) : uint4{};
  }
#pragma unroll
  for (int pass = 0; pass < kColumnPasses; ++pass) {
    const int s = (pass * 32 + lane) / kColumnLanes;
    const long long at = (row + s * a.H) * kColumns + lane % kColumnLanes * 8;
    in.v[pass] = s < steps ? *reinterpret_cast<const uint4*>(a.v + at) : uint4{};
    in.g[pass] = kGATE && s < steps ? *reinterpret_cast<const uint4*>(a.g + at) : uint4{};
  }
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
  for (int pass = 0; pass < kRowPasses; ++pass) {
    const int s = (pass * 32 + lane) / kRowLanes, part = lane % kRowLanes * 8;
    store_unit(in.k[pass], &w.k[s][part]);
    store_unit(in.q[pass], &w.q[s][part]);
  }
#pragma unroll
  for (int pass = 0; pass < kColumnPasses; ++pass) {
    const int s = (pass * 32 + lane) / kColumnLanes;
    *reinterpret_cast<uint4*>(&w.v[s][lane % kColumnLanes * 8]) = in.v[pass];
  }
  if (lane < kSegment) {
    w.decay[lane] = in.decay;
  }
}

// 1 / (1 + e^-x), two special-function instructions
__device__ float logistic(float x) {
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.44269504f));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return inverse;
}

// y_cache and the gated output of a chunk, 16 bytes a lane.
__device__ void finish(const e88_forward_args& a, const Work& w, const uint4 (&g_words)[kColumnPasses], int lane,
                       long long row, int steps) {
#pragma unroll
  for (int pass = 0; pass < kColumnPasses; ++pass) {
    const int s = (pass * 32 + lane) / kColumnLanes, part = lane % kColumnLanes * 8;
    if (s >= steps) {
      continue;
    }
    const float4 first = *reinterpret_cast<const float4*>(&w.y[s][part]);
    const float4 second = *reinterpret_cast<const float4*>(&w.y[s][part + 4]);
    Eight y = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    const long long at = (row + s * a.H) * kColumns + part;
    *reinterpret_cast<uint4*>(a.y_cache + at) = pack(y);
    if (kGATE) {
      const Eight g = unpack(g_words[pass]);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        y.x[i] *= g.x[i] * logistic(g.x[i]);
      }
    }
    *reinterpret_cast<uint4*>(a.output + at) = pack(y);
  }
}

// sum_i S[i] x[i] in four chains
__device__ float dot(const float (&S)[kRows], const float* x) {
  float sums[4] = {};
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    sums[i % 4] += S[i] * x[i];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// One step; `retrieved` is sum_i S[i] k^[i], and of the next step afterwards: both that sum and y take S[i] as soon as
// tanh delivers it, while the special-function unit is busy with the rest.
__device__ void step(Work& w, int s, int lane, bool active, float (&S)[kRows], float& retrieved) {
  const float decay = w.decay[s];
  const float delta = (active ? __bfloat162float(w.v[s][active ? lane : 0]) : 0.0f) - retrieved;
  float y[2] = {}, next[2] = {};
#pragma unroll
  for (int i = 0; i < kRows; i += 4) {
    const float4 k = *reinterpret_cast<const float4*>(&w.k[s][i]);
    const float4 q = *reinterpret_cast<const float4*>(&w.q[s][i]);
    const float4 next_k = *reinterpret_cast<const float4*>(&w.k[s + 1][i]);
    S[i] = tanh_approx(decay * S[i] + k.x * delta);
    S[i + 1] = tanh_approx(decay * S[i + 1] + k.y * delta);
    S[i + 2] = tanh_approx(decay * S[i + 2] + k.z * delta);
    S[i + 3] = tanh_approx(decay * S[i + 3] + k.w * delta);
    y[0] += S[i] * q.x;
    next[0] += S[i] * next_k.x;
    y[1] += S[i + 1] * q.y;
    next[1] += S[i + 1] * next_k.y;
    y[0] += S[i + 2] * q.z;
    next[0] += S[i + 2] * next_k.z;
    y[1] += S[i + 3] * q.w;
    next[1] += S[i + 3] * next_k.w;
  }
  retrieved = next[0] + next[1];
  if (active) {
    w.y[s][lane] = y[0] + y[1];
  }
}

}  // namespace

// Lane j owns column j; a lane past V holds zeros and writes nothing.
extern "C" __global__ void __launch_bounds__(32 * SEQUENCES) forward(const e88_forward_args a) {
  __shared__ Work works[SEQUENCES];
  Work& w = works[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const bool active = lane < kColumns;
  const long long sequence = blockIdx.x * SEQUENCES + threadIdx.x / 32, b = sequence / a.H, h = sequence % a.H;
  if (sequence >= a.B * a.H) {
    return;  // warps never wait for one another
  }
  const long long place = sequence * kState + (active ? lane : 0);
  float S[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    S[i] = active ? __bfloat162float(a.s0[place + i * kColumns]) : 0.0f;
  }
  for (int i = lane; i < kRows; i += 32) {
    w.k[kSegment][i] = 0;
  }
  Inputs in;
  fetch(a, in, lane, b * a.T * a.H + h, min(static_cast<long long>(kSegment), a.T));
  for (long long first = 0; first < a.T; first += kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    const long long row = (b * a.T + first) * a.H + h;
    if (active) {
      bf16* checkpoint = a.checkpoints + first / kSegment * a.B * a.H * kState + place;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        checkpoint[i * kColumns] = __float2bfloat16(S[i]);
      }
    }
    deposit(in, w, lane);
    uint4 g[kColumnPasses];
#pragma unroll
    for (int pass = 0; pass < kColumnPasses; ++pass) {
      g[pass] = in.g[pass];
    }
    __syncwarp();
    if (first + kSegment < a.T) {
      fetch(a, in, lane, row + kSegment * a.H, min(static_cast<long long>(kSegment), a.T - first - kSegment));
    }
    float retrieved = dot(S, w.k[0]);
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      step(w, s, lane, active, S, retrieved);
    }
    __syncwarp();
    finish(a, w, g, lane, row, steps);
    __syncwarp();
  }
  if (active) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      a.s_final[place + i * kColumns] = __float2bfloat16(S[i]);
    }
  }
}
