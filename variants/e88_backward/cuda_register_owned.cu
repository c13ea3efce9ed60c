// apo:variant    e88_backward/cuda_register_owned
// apo:target     cuda sm_80
// apo:technique  register-owned
// apo:technique  fused-l2-norm
// apo:parent     cuda_fused_l2_norm
// apo:idea       One warp owns a sequence and lane j keeps column j of S and dS in registers, so no block barrier is left.
// apo:predict    1.8x..3x over parent: nine barriers a step and the idle threads between them go.
// apo:requires   N <= 64 && V <= 32 && B*H <= 2147483647
// apo:scratch    history 2*B*H*16*(N*V+N+V)
// apo:launch     backward grid=B*H block=32
#include "e88_backward.args.h"
#include "lane_columns.cuh"

constexpr int kEntry = kState + kRows + kColumns;  // cached per step: S_{t-1}, k^, v

// Lane j owns column j; a lane past V holds zeros, writes nothing and takes part in the shuffles.
extern "C" __global__ void __launch_bounds__(32) backward(const e88_backward_args a) {
  __shared__ float k[kRows], q[kRows];
  const int lane = threadIdx.x;
  const bool active = lane < kColumns;
  const long long sequence = blockIdx.x, b = sequence / a.H, h = sequence % a.H;
  bf16* history = static_cast<bf16*>(a.history) + sequence * kSegment * kEntry;
  float S[kRows], dS[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    dS[i] = active ? load(a.d_s_final[sequence * kState + i * kColumns + lane]) : 0.0f;
  }
  for (long long first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int steps = min(static_cast<long long>(kSegment), a.T - first);
    const bf16* checkpoint = a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kState;
    load_column(checkpoint, lane, active, S);
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {  // replay
      const long long row = (b * a.T + first + s) * a.H + h;
      bf16* entry = history + s * kEntry;
      const float decay = load(a.decay[row]);
      share(load_unit(a.k + row * kRows), k);
      const float v = active ? load(a.v[row * kColumns + lane]) : 0.0f;
      __syncwarp();
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
      advance_column(S, k, retrieve_column(S, k, v), decay);
      __syncwarp();
    }
#pragma unroll 1
    for (int s = steps - 1; s >= 0; --s) {  // reverse
      const long long row = (b * a.T + first + s) * a.H + h;
      const bf16* entry = history + s * kEntry;
      const float decay = load(a.decay[row]);
      const Unit<> unit_k = load_unit(a.k + row * kRows), unit_q = load_unit(a.q + row * kRows);
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
      float dq[Unit<>::kPerLane] = {}, dk[Unit<>::kPerLane] = {}, d_delta = 0, d_decay = 0;
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
      d_decay = sum_of_lanes(d_decay);
      if (lane == 0) {
        a.ddecay[row] = store(d_decay);
      }
      if (active) {
        a.dv[row * kColumns + lane] = store(d_delta);
      }
      store_gradient(unit_q, dq, a.dq + row * kRows);
      store_gradient(unit_k, dk, a.dk + row * kRows);
      __syncwarp();
    }
  }
  if (active) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      a.ds0[sequence * kState + i * kColumns + lane] = store(dS[i]);
    }
  }
}
