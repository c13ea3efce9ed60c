// apo:variant    e88_backward/cuda_register_tiled
// apo:target     cuda sm_80
// apo:technique  register-tiled
// apo:technique  reduce-scatter
// apo:technique  reused-state
// apo:technique  fp16-history
// apo:technique  fused-l2-norm
// apo:parent     cuda_shared_fallback
// apo:idea       Two warps own the 33 to 64 columns of a state in registers; S_t and the slope are recomputed or reused, so only S and dS are kept.
// apo:predict    2x..4x over parent: two barriers a step where that has eight, and the state is not in shared memory.
// apo:requires   N <= 64 && V <= 64 && B*H <= 2147483647
// apo:scratch    history 2*B*H*16*N*V
// apo:launch     backward grid=B*H block=64
#include "e88_backward.args.h"
#include "lane_columns.cuh"

namespace {

// dx of what two warps have summed, each over its columns.
__device__ void store_sum(const Unit<>& unit, const float (&parts)[2][32 * Unit<>::kPerLane], bf16* row) {
  float dx[Unit<>::kPerLane];
#pragma unroll
  for (int p = 0; p < Unit<>::kPerLane; ++p) {
    const int i = threadIdx.x % 32 + 32 * p;
    dx[p] = parts[0][i] + parts[1][i];
  }
  store_gradient(unit, dx, row);
}

}  // namespace

// Thread j of two warps owns column j; one past V holds zeros and takes part in the shuffles. What a warp has summed of
// dk, dq and ddecay meets the other half in shared memory: two barriers a reverse step.
extern "C" __global__ void __launch_bounds__(64, kRows <= 32 ? 6 : 1) backward(const e88_backward_args a) {
  __shared__ float k[kRows], q[kRows], deltas[kSegment][64];
  __shared__ float dk_part[2][32 * Unit<>::kPerLane], dq_part[2][32 * Unit<>::kPerLane], decay_part[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = threadIdx.x;
  const bool active = column < kColumns;
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  __half* history = static_cast<__half*>(a.history) + sequence * kSegment * kState;
  float S[kRows], dS[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    dS[i] = active ? load(a.d_s_final[sequence * kState + i * kColumns + column]) : 0.0f;
  }
  for (long long first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    const bf16* checkpoint = a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState;
    load_column(checkpoint, column, active, S);
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {  // replay
      const long long row = (b * a.T + first + s) * a.H + h;
      __half* entry = history + s * kState;
      const float decay = load(a.decay[row]);
      if (warp == 0) {
        share(load_unit(a.k + row * kRows), k);
      }
      const float v = active ? load(a.v[row * kColumns + column]) : 0.0f;
      __syncthreads();
      if (active) {
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
          entry[i * kColumns + column] = __float2half_rn(S[i]);
        }
      }
      const float delta = retrieve_column(S, k, v);
      deltas[s][column] = delta;
      advance_column(S, k, delta, decay);
      __syncthreads();
    }
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {  // reverse; S is S_t at first
      const long long row = (b * a.T + first + s) * a.H + h;
      const __half* entry = history + s * kState;
      const float decay = load(a.decay[row]);
      const Unit<> unit = load_unit((warp == 0 ? a.k : a.q) + row * kRows);
      share(unit, warp == 0 ? k : q);
      const float dy = active ? gate_gradient(a, row * kColumns + column) : 0.0f;
      const float delta = deltas[s][column];
      __syncthreads();
      float d_delta = 0, d_decay = 0;
#pragma unroll
      for (int p = 0; p < unit.kPerLane; ++p) {
        dq_part[warp][32 * p + lane] = sum_query_gradient<32>(p, S, dy);
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        dS[i] = (dS[i] + q[i] * dy) * (1.0f - S[i] * S[i]);
        d_delta += dS[i] * k[i];
      }
#pragma unroll
      for (int p = 0; p < unit.kPerLane; ++p) {
        dk_part[warp][32 * p + lane] =
            step_back<32>(p, entry, column, active, k, decay, delta, d_delta, S, dS, d_decay);
      }
      d_decay = sum_of_lanes(d_decay);
      if (lane == 0) {
        decay_part[warp] = d_decay;
      }
      if (active) {
        a.dv[row * kColumns + column] = store(d_delta);
      }
      __syncthreads();
      store_sum(unit, warp == 0 ? dk_part : dq_part, (warp == 0 ? a.dk : a.dq) + row * kRows);
      if (threadIdx.x == 0) {
        a.ddecay[row] = store(decay_part[0] + decay_part[1]);
      }
    }
  }
  if (active) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      a.ds0[sequence * kState + i * kColumns + column] = store(dS[i]);
    }
  }
}
