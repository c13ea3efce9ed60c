// apo:variant    e88_forward/cuda_register_chunk
// apo:target     cuda sm_80
// apo:technique  register-owned
// apo:technique  chunk-prefetch
// apo:technique  cp-async
// apo:technique  approximate-tanh
// apo:technique  fused-l2-norm
// apo:technique  fused-gate
// apo:parent     cuda_register_owned
// apo:idea       Register-owned columns with tanh.approx; cp.async brings a chunk ahead and its k and q are normalised together, eight entries a lane.
// apo:predict    2x..4x over parent: 0.25..0.35 ms at b16_t512_h83_n32; tanhf's 16 instructions become one and no step waits for memory.
// apo:requires   N % 8 == 0 && N <= 64 && V % 8 == 0 && V <= 32 && SEQUENCES*(192*N+128*V+128) <= 49152 && B*H <= 2147483647
// apo:tune       SEQUENCES 1,2,4
// apo:launch     forward grid=ceil_div(B*H,SEQUENCES) block=32*SEQUENCES
#include "e88_forward.args.h"
#include "e88_sizes.cuh"
#include "row_copies.cuh"
#include "words.cuh"

namespace {

// What a warp keeps in shared memory: the inputs of the next chunk as they come, k^ and q^ of this one.
struct Work {
  alignas(16) bf16 k[kSegment][kRows];
  alignas(16) bf16 q[kSegment][kRows];
  alignas(16) bf16 v[2][kSegment][kColumns];
  alignas(16) bf16 g[2][kSegment][kColumns];
  alignas(16) float unit_k[kSegment][kRows];
  alignas(16) float unit_q[kSegment][kRows];
  float decay[kSegment];
};

__device__ void start_chunk(const e88_forward_args& a, Work& w, long long row, int steps, int buffer) {
  copy_rows<kRows, true>(a.k + row * kRows, a.H * kRows, w.k, steps);
  copy_rows<kRows, true>(a.q + row * kRows, a.H * kRows, w.q, steps);
  copy_rows<kColumns, true>(a.v + row * kColumns, a.H * kColumns, w.v[buffer], steps);
  if (kGATE) {
    copy_rows<kColumns, true>(a.g + row * kColumns, a.H * kColumns, w.g[buffer], steps);
  }
  __pipeline_commit();
}

// k^ or q^ of a whole chunk: eight entries a lane, so that a sum of squares needs few shuffles.
__device__ void normalise_chunk(const bf16 (*raw)[kRows], float (*unit)[kRows], int steps) {
  constexpr int pieces = kRows / 8;
  constexpr int group = pieces <= 1 ? 1 : pieces <= 2 ? 2 : pieces <= 4 ? 4 : 8;
  const int part = threadIdx.x % group;
#pragma unroll
  for (int base = 0; base < kSegment; base += 32 / group) {
    const int s = base + threadIdx.x % 32 / group;
    const bool there = s < steps && part < pieces;
    const uint4 packed = there ? *reinterpret_cast<const uint4*>(&raw[s % kSegment][part * 8]) : uint4{};
    const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
    float x[8], squares = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[2 * i] = __uint_as_float(words[i] << 16);
      x[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
      squares += x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1];
    }
    squares = sum_of_lanes<group>(squares);
    const float factor = kNORM ? rsqrtf(squares + 1e-12f) : 1.0f;
    if (there) {
      float4* to = reinterpret_cast<float4*>(&unit[s][part * 8]);
      to[0] = make_float4(x[0] * factor, x[1] * factor, x[2] * factor, x[3] * factor);
      to[1] = make_float4(x[4] * factor, x[5] * factor, x[6] * factor, x[7] * factor);
    }
  }
}

// sum_i S[i] x[i] in four chains
__device__ float dot(const float (&S)[kRows], const float* x) {
  float sums[4] = {};
#pragma unroll
  for (int i = 0; i < kRows; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(x + i);
    sums[0] += S[i] * four.x;
    sums[1] += S[i + 1] * four.y;
    sums[2] += S[i + 2] * four.z;
    sums[3] += S[i + 3] * four.w;
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
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
  float S[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    S[i] = active ? load(a.s0[sequence * kState + i * kColumns + lane]) : 0.0f;
  }
  start_chunk(a, w, b * a.T * a.H + h, min(static_cast<long long>(kSegment), a.T), 0);
  for (long long first = 0; first < a.T; first += kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first), buffer = first / kSegment % 2;
    const long long row = (b * a.T + first) * a.H + h;
    if (active) {
      bf16* checkpoint = a.checkpoints + (first / kSegment * a.B * a.H + sequence) * kState;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        checkpoint[i * kColumns + lane] = store(S[i]);
      }
    }
    const float decay_of_lane = lane < steps ? load(a.decay[row + lane * a.H]) : 0.0f;
    __pipeline_wait_prior(0);
    __syncwarp();
    normalise_chunk(w.k, w.unit_k, steps);
    normalise_chunk(w.q, w.unit_q, steps);
    if (lane < kSegment) {
      w.decay[lane] = decay_of_lane;
    }
    __syncwarp();
    if (first + kSegment < a.T) {
      const int ahead = min(static_cast<long long>(kSegment), a.T - first - kSegment);
      start_chunk(a, w, row + kSegment * a.H, ahead, 1 - buffer);
    }
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      const int column = active ? lane : 0;
      const float decay = w.decay[s];
      const float delta = (active ? load(w.v[buffer][s][column]) : 0.0f) - dot(S, w.unit_k[s]);
#pragma unroll
      for (int i = 0; i < kRows; i += 4) {
        const float4 k = *reinterpret_cast<const float4*>(&w.unit_k[s][i]);
        S[i] = tanh_approx(decay * S[i] + k.x * delta);
        S[i + 1] = tanh_approx(decay * S[i + 1] + k.y * delta);
        S[i + 2] = tanh_approx(decay * S[i + 2] + k.z * delta);
        S[i + 3] = tanh_approx(decay * S[i + 3] + k.w * delta);
      }
      const float y = dot(S, w.unit_q[s]);
      if (active) {
        const long long at = (row + s * a.H) * kColumns + lane;
        const float g = kGATE ? load(w.g[buffer][s][column]) : 0.0f;
        a.y_cache[at] = store(y);
        a.output[at] = store(kGATE ? __fdividef(y * g, 1.0f + __expf(-fmaxf(g, -80.0f))) : y);
      }
    }
    __syncwarp();
  }
  if (active) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      a.s_final[sequence * kState + i * kColumns + lane] = store(S[i]);
    }
  }
}
