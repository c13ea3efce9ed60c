// apo:variant    e88_backward/cuda_register_owned
// apo:target     cuda sm_80
// apo:technique  register-owned
// apo:technique  fused-l2-norm
// apo:parent     cuda_simple
// apo:idea       One warp owns a sequence and lane j keeps column j of S and dS in registers, so no block barrier is left.
// apo:predict    1.8x..3x over parent: nine barriers a step and the idle threads between them go.
// apo:toggle     REUSED_STATE reused-state
// apo:toggle     REDUCE_SCATTER reduce-scatter
// apo:toggle     MULTI_HEAD multi-head
// apo:toggle     SMALL_STATE small-state
// apo:tune       SEQUENCES 4,2,8
// apo:requires   N <= 64 && V <= 32 && B*H <= 2147483647
// apo:requires   !REDUCE_SCATTER || REUSED_STATE
// apo:requires   MULTI_HEAD || SEQUENCES == 4
// apo:requires   !SMALL_STATE || N <= 16 && V <= 16 && REDUCE_SCATTER && !MULTI_HEAD
// apo:scratch    history 2*B*H*16*(N*V + (REUSED_STATE ? 0 : N+V))
// apo:launch     backward grid=ceil_div(B*H, MULTI_HEAD ? SEQUENCES : SMALL_STATE ? 2 : 1) block=MULTI_HEAD ? 32*SEQUENCES : 32
//
// MULTI_HEAD: SEQUENCES warps a block, each with a sequence of its own whatever H is: fewer blocks to launch, no limit
// of 32 blocks an SM. SMALL_STATE: for states of at most 16 columns two sequences share a warp, a half each, so that no
// lane is idle. The other toggles are explained where they are read.
#include "e88_backward.args.h"
#include "lane_columns.cuh"

namespace {

constexpr int kLanes = SMALL_STATE ? 16 : 32;  // of a sequence

// REUSED_STATE: S_t is what the step after left in registers and delta was saved by the replay, so that there is no
// second retrieval and no second tanh pass. The cache has S_{t-1} in fp16; else S_{t-1}, k^ and v in bf16.
#if REUSED_STATE
using Cached = __half;
constexpr int kEntry = kState;
#else
using Cached = bf16;
constexpr int kEntry = kState + kRows + kColumns;
#endif

// Of `sequence`, which is (b, h) and which kLanes neighbouring lanes own; `lane` is one of these. Lanes that are not
// `there` work along and write nothing. In shared memory: k^ and q^ of a step, and of a segment's steps delta of the
// column, at `place`.
__device__ void backward_by_columns(const e88_backward_args& a, long long sequence, long long b, long long h, int lane,
                                    bool there, float* k, float* q, float (*deltas)[32], int place) {
  const bool active = lane < kColumns;
  Cached* history = static_cast<Cached*>(a.history) + sequence * kSegment * kEntry;
  float S[kRows], dS[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    dS[i] = active ? load(a.d_s_final[sequence * kState + i * kColumns + lane]) : 0.0f;
  }
  for (long long first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    load_column(a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState, lane, active, S);
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {  // replay
      const long long row = (b * a.T + first + s) * a.H + h;
      Cached* entry = history + s * kEntry;
      const float decay = load(a.decay[row]);
      share(load_unit<kLanes>(a.k + row * kRows), k);
      const float v = active ? load(a.v[row * kColumns + lane]) : 0.0f;
      __syncwarp();
#if REUSED_STATE
      if (there && active) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          entry[i * kColumns + lane] = __float2half_rn(S[i]);
        }
      }
      const float delta = retrieve_column(S, k, v);
      deltas[s][place] = delta;
#else
      for (int i = lane; i < kRows; i += 32) {
        entry[kState + i] = store(k[i]);
      }
      if (active) {
        entry[kState + kRows + lane] = a.v[row * kColumns + lane];
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          entry[i * kColumns + lane] = store(S[i]);
        }
      }
      const float delta = retrieve_column(S, k, v);
#endif
      advance_column(S, k, delta, decay);
      __syncwarp();
    }
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {  // reverse
      const long long row = (b * a.T + first + s) * a.H + h;
      const Cached* entry = history + s * kEntry;
      const float decay = load(a.decay[row]);
      const Unit<kLanes> unit_k = load_unit<kLanes>(a.k + row * kRows), unit_q = load_unit<kLanes>(a.q + row * kRows);
      float dq[unit_k.kPerLane] = {}, dk[unit_k.kPerLane] = {}, d_delta = 0, d_decay = 0;
#if REUSED_STATE  // S is S_t at first
      share(unit_k, k);
      share(unit_q, q);
      const float dy = active ? gate_gradient(a, row * kColumns + lane, there) : 0.0f;
      const float delta = deltas[s][place];
      __syncwarp();
#else
      share(unit_q, q);
      for (int i = lane; i < kRows; i += 32) {
        k[i] = load(entry[kState + i]);
      }
      const float dy = active ? gate_gradient(a, row * kColumns + lane) : 0.0f;
      float delta = active ? load(entry[kState + kRows + lane]) : 0.0f;
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        S[i] = active ? load(entry[i * kColumns + lane]) : 0.0f;
        delta -= S[i] * k[i];
      }
#endif
// REDUCE_SCATTER: dk and dq are summed by exchanges that halve the rows a lane still holds: 31 shuffles for 32 rows
// instead of 160.
#if REDUCE_SCATTER
#pragma unroll
      for (int p = 0; p < unit_k.kPerLane; ++p) {
        dq[p] = sum_query_gradient<kLanes>(p, S, dy);
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        dS[i] = (dS[i] + q[i] * dy) * (1.0f - S[i] * S[i]);
        d_delta += dS[i] * k[i];
      }
#pragma unroll
      for (int p = 0; p < unit_k.kPerLane; ++p) {
        dk[p] = step_back<kLanes>(p, entry, lane, active, k, decay, delta, d_delta, S, dS, d_decay);
      }
#elif REUSED_STATE
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const float sum = sum_of_lanes(S[i] * dy);
        dq[i / 32] = lane == i % 32 ? sum : dq[i / 32];
        dS[i] = (dS[i] + q[i] * dy) * (1.0f - S[i] * S[i]);
        d_delta += dS[i] * k[i];
      }
#pragma unroll
      for (int p = 0; p < unit_k.kPerLane; ++p) {
        __half before[32];  // S_{t-1}: all loads first, since nothing passes a shuffle
#pragma unroll
        for (int r = 0; r < min(32, kRows - 32 * p); ++r) {
          before[r] = active ? entry[(32 * p + r) * kColumns + lane] : __half();
        }
#pragma unroll
        for (int r = 0; r < min(32, kRows - 32 * p); ++r) {
          const int i = 32 * p + r;
          S[i] = __half2float(before[r]);
          d_decay += dS[i] * S[i];
          const float sum = sum_of_lanes(dS[i] * delta - S[i] * d_delta);
          dk[p] = lane == r ? sum : dk[p];
          dS[i] = decay * dS[i] - k[i] * d_delta;
        }
      }
#else
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const float next = tanhf(decay * S[i] + k[i] * delta);
        const float sum = sum_of_lanes(next * dy);
        dq[i / 32] = lane == i % 32 ? sum : dq[i / 32];
        dS[i] = (dS[i] + q[i] * dy) * (1.0f - next * next);
        d_delta += dS[i] * k[i];
        d_decay += dS[i] * S[i];
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const float sum = sum_of_lanes(dS[i] * delta - S[i] * d_delta);
        dk[i / 32] = lane == i % 32 ? sum : dk[i / 32];
        dS[i] = decay * dS[i] - k[i] * d_delta;
      }
#endif
      d_decay = sum_of_lanes<kLanes>(d_decay);
      if (there && lane == 0) {
        a.ddecay[row] = store(d_decay);
      }
      if (there && active) {
        a.dv[row * kColumns + lane] = store(d_delta);
      }
      store_gradient(unit_q, dq, a.dq + row * kRows, there);
      store_gradient(unit_k, dk, a.dk + row * kRows, there);
      __syncwarp();
    }
  }
  if (there && active) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      a.ds0[sequence * kState + i * kColumns + lane] = store(dS[i]);
    }
  }
}

}  // namespace

#if MULTI_HEAD
#define BOUNDS __launch_bounds__(32 * SEQUENCES)
#elif REDUCE_SCATTER
#define BOUNDS __launch_bounds__(32, kRows <= 32 ? 12 : 1)
#else
#define BOUNDS __launch_bounds__(32)
#endif

// Lane j of those that own a sequence owns column j; a lane past V holds zeros, writes nothing and takes part in the
// shuffles.
extern "C" __global__ void BOUNDS backward(const e88_backward_args a) {
#if SMALL_STATE
  __shared__ float ks[2][kRows], qs[2][kRows], deltas[kSegment][32];
  const int lane = threadIdx.x % 16, half = threadIdx.x / 16;
  float *k = ks[half], *q = qs[half];
  const bool there = blockIdx.x * 2LL + half < a.B * a.H;  // where B*H is odd the last half repeats its neighbour
  const long long sequence = blockIdx.x * 2LL + (there ? half : 0), b = sequence / a.H, h = sequence % a.H;
  backward_by_columns(a, sequence, b, h, lane, there, k, q, deltas, threadIdx.x);
#elif MULTI_HEAD
  __shared__ float ks[SEQUENCES][kRows], qs[SEQUENCES][kRows], all_deltas[SEQUENCES][kSegment][32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long sequence = blockIdx.x * SEQUENCES + warp, b = sequence / a.H, h = sequence % a.H;
  if (sequence >= a.B * a.H) {
    return;  // warps never wait for one another
  }
  backward_by_columns(a, sequence, b, h, lane, true, ks[warp], qs[warp], all_deltas[warp], lane);
#else
  __shared__ float k[kRows], q[kRows], deltas[kSegment][32];
  const int lane = threadIdx.x;
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  backward_by_columns(a, sequence, b, h, lane, true, k, q, deltas, lane);
#endif
}
