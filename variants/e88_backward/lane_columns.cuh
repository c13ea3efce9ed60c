// variants/e88_backward/lane_columns.cuh - a lane has a column of S and dS in registers: gradients of k and q over the
// lanes, by exchanges that halve what a lane still holds.
#pragma once
#include <cuda_fp16.h>

#include "e88_units.cuh"

namespace {

// dx = (dx^ - x^ (x^ . dx^)) rsqrt(|x|^2 + epsilon), dx^ laid out like x; lanes that are not there take part in the
// sum.
template <int kLanes>
__device__ void store_gradient(const Unit<kLanes>& unit, const float (&dx)[Unit<kLanes>::kPerLane], bf16* row,
                               bool there = true) {
  const int lane = threadIdx.x % kLanes;
  float along = 0;
#pragma unroll
  for (int p = 0; p < unit.kPerLane; ++p) {
    along += lane + kLanes * p < kRows ? unit.x[p] * dx[p] : 0.0f;
  }
  along = kNORM ? sum_of_lanes<kLanes>(along) : 0.0f;
#pragma unroll
  for (int p = 0; p < unit.kPerLane; ++p) {
    if (there && lane + kLanes * p < kRows) {
      row[lane + kLanes * p] = store(kNORM ? (dx[p] - unit.x[p] * along) * unit.factor : dx[p]);
    }
  }
}

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
inline __device__ float gate_gradient(const e88_backward_args& a, long long at, bool there = true) {
  const float d_output = load(a.d_output[at]);
  if (!kGATE) {
    if (there) {
      a.dg[at] = store(0.0f);
    }
    return d_output;
  }
  const float g = load(a.g[at]);
  const float sigmoid = 1.0f / (1.0f + __expf(-g));
  if (there) {
    a.dg[at] = store(d_output * load(a.y_cache[at]) * sigmoid * (1.0f + g * (1.0f - sigmoid)));
  }
  return d_output * g * sigmoid;
}

// Sums x[i] over kLanes lanes; lane i of them gets the sum of x[i]. Each exchange halves what is left: of 32 lanes 31
// shuffles, not 160.
template <int kStep, int kCount>
__device__ float reduce_scatter(float (&x)[kCount]) {
  const bool upper = threadIdx.x & kStep;
#pragma unroll
  for (int i = 0; i < kStep; ++i) {
    const float low = x[i], high = x[i + kStep];
    x[i] = (upper ? high : low) + __shfl_xor_sync(kAll, upper ? low : high, kStep);
  }
  if constexpr (kStep > 1) {
    return reduce_scatter<kStep / 2>(x);
  }
  return x[0];
}

// The lane's entry number p of dq^, from S_t and dy of its column.
template <int kLanes>
__device__ float sum_query_gradient(int p, const float (&S)[kRows], float dy) {
  float x[kLanes];
#pragma unroll
  for (int i = 0; i < kLanes; ++i) {
    x[i] = kLanes * p + i < kRows ? S[(kLanes * p + i) % kRows] * dy : 0.0f;
  }
  return reduce_scatter<kLanes / 2>(x);
}

// Of rows kLanes p to kLanes (p+1) - 1: turns dS, which has come back through tanh, into dL/dS_{t-1} and S into
// S_{t-1}; returns the lane's entry number p of dk^.
template <int kLanes>
__device__ float step_back(int p, const __half* entry, int column, bool active, const float* k, float decay,
                           float delta, float d_delta, float (&S)[kRows], float (&dS)[kRows], float& d_decay) {
  float x[kLanes] = {};
  __half before[kLanes];  // S_{t-1}: all loads first, since nothing passes a shuffle
#pragma unroll
  for (int r = 0; r < min(kLanes, kRows - kLanes * p); ++r) {
    before[r] = active ? entry[(kLanes * p + r) * kColumns + column] : __half();
  }
#pragma unroll
  for (int r = 0; r < min(kLanes, kRows - kLanes * p); ++r) {
    const int i = kLanes * p + r;
    S[i] = __half2float(before[r]);
    d_decay += dS[i] * S[i];
    x[r] = dS[i] * delta - S[i] * d_delta;
    dS[i] = decay * dS[i] - k[i] * d_delta;
  }
  return reduce_scatter<kLanes / 2>(x);
}

}  // namespace
