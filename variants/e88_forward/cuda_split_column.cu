// apo:variant    e88_forward/cuda_split_column
// apo:target     cuda sm_80
// apo:technique  split-column
// apo:technique  register-owned
// apo:technique  fused-l2-norm
// apo:technique  fused-gate
// apo:parent     cuda_register_owned
// apo:idea       SPLIT lanes share a column, so a sequence is SPLIT independent warps with shorter serial sums, joined by one or two shuffles.
// apo:predict    1.2x..1.8x over parent: twice the warps hide each other's latency; norms and loads are repeated.
// apo:requires   N <= 128 && B*H*ceil_div(V,32/SPLIT) <= 2147483647
// apo:tune       SPLIT 2,4,8
// apo:launch     forward grid=B*H*ceil_div(V,32/SPLIT) block=32
#include "e88_forward.args.h"

namespace {

using bf16 = __nv_bfloat16;

constexpr int kSegment = 16;  // steps between two checkpoints
constexpr int kRows = kN, kColumns = kV, kState = kRows * kColumns;
constexpr int kPerLane = (kRows + 31) / 32;          // entries of k or q that a lane loads
constexpr int kShare = (kRows + SPLIT - 1) / SPLIT;  // rows of its column that a lane owns
constexpr int kPerWarp = 32 / SPLIT;                 // columns
constexpr int kWarps = (kColumns + kPerWarp - 1) / kPerWarp;

__device__ float load(bf16 value) {
  return __bfloat162float(value);
}

__device__ bf16 store(float value) {
  return __float2bfloat16(value);
}

__device__ float sum_of_column(float x) {
#pragma unroll
  for (int step = SPLIT / 2; step > 0; step /= 2) {
    x += __shfl_xor_sync(0xffffffffu, x, step);
  }
  return x;
}

// x^ of a row into shared memory, by one warp.
__device__ void share_unit(const bf16* row, float* shared) {
  const int lane = threadIdx.x % 32;
  float x[kPerLane], squares = 0;
#pragma unroll
  for (int p = 0; p < kPerLane; ++p) {
    x[p] = lane + 32 * p < kRows ? load(row[lane + 32 * p]) : 0.0f;
    squares += x[p] * x[p];
  }
#pragma unroll
  for (int step = 16; step > 0 && kNORM; step /= 2) {
    squares += __shfl_xor_sync(0xffffffffu, squares, step);
  }
  const float factor = kNORM ? rsqrtf(squares + 1e-12f) : 1.0f;
#pragma unroll
  for (int p = 0; p < kPerLane; ++p) {
    if (lane + 32 * p < kRows) {
      shared[lane + 32 * p] = x[p] * factor;
    }
  }
}

}  // namespace

// SPLIT neighbouring lanes own a column, each every SPLIT-th row of it, and 32 / SPLIT columns make a warp. Columns are
// independent: the warps of a sequence never meet, each normalises k and q for itself.
extern "C" __global__ void __launch_bounds__(32) forward(const e88_forward_args a) {
  __shared__ float k[kShare * SPLIT], q[kShare * SPLIT];
  const int lane = threadIdx.x, part = lane % SPLIT;
  const long long sequence = blockIdx.x / kWarps, b = sequence / a.H, h = sequence % a.H;
  const int column = blockIdx.x % kWarps * kPerWarp + lane / SPLIT;
  const bool active = column < kColumns;
  for (int i = kRows + lane; i < kShare * SPLIT; i += 32) {
    k[i] = 0;
    q[i] = 0;
  }
  float S[kShare];
#pragma unroll
  for (int r = 0; r < kShare; ++r) {
    const int i = r * SPLIT + part;
    S[r] = active && i < kRows ? load(a.s0[sequence * kState + i * kColumns + column]) : 0.0f;
  }
#pragma unroll 1
  for (long long t = 0; t < a.T; ++t) {
    const long long row = (b * a.T + t) * a.H + h, at = row * kColumns + column;
    if (t % kSegment == 0 && active) {
      bf16* checkpoint = a.checkpoints + (t / kSegment * a.B * a.H + sequence) * kState;
#pragma unroll
      for (int r = 0; r < kShare; ++r) {
        const int i = r * SPLIT + part;
        if (i < kRows) {
          checkpoint[i * kColumns + column] = store(S[r]);
        }
      }
    }
    share_unit(a.k + row * kRows, k);
    share_unit(a.q + row * kRows, q);
    const float decay = load(a.decay[row]);
    const float v = active ? load(a.v[at]) : 0.0f;
    __syncwarp();
    float retrieved = 0;
#pragma unroll
    for (int r = 0; r < kShare; ++r) {
      retrieved += S[r] * k[r * SPLIT + part];
    }
    const float delta = v - sum_of_column(retrieved);
    float y = 0;
#pragma unroll
    for (int r = 0; r < kShare; ++r) {
      S[r] = tanhf(decay * S[r] + k[r * SPLIT + part] * delta);
      y += S[r] * q[r * SPLIT + part];
    }
    y = sum_of_column(y);
    if (active && part == 0) {
      const float g = kGATE ? load(a.g[at]) : 0.0f;
      a.y_cache[at] = store(y);
      a.output[at] = store(kGATE ? y * g / (1.0f + __expf(-g)) : y);
    }
    __syncwarp();
  }
  if (active) {
#pragma unroll
    for (int r = 0; r < kShare; ++r) {
      const int i = r * SPLIT + part;
      if (i < kRows) {
        a.s_final[sequence * kState + i * kColumns + column] = store(S[r]);
      }
    }
  }
}
