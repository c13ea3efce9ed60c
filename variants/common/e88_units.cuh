// variants/common/e88_units.cuh - rows of k and q over the lanes of a warp, normalised, and a column of S in each lane.
#pragma once
#include "e88_sizes.cuh"
#include "words.cuh"

namespace {

// A row of k or q: entry i in lane i % kLanes.
template <int kLanes = 32>
struct Unit {
  static constexpr int kPerLane = (kRows + kLanes - 1) / kLanes;  // entries of a lane
  float x[kPerLane];
  float factor;  // rsqrt(|x|^2 + epsilon)
};

template <int kLanes = 32>
__device__ Unit<kLanes> load_unit(const bf16* row) {
  const int lane = threadIdx.x % kLanes;
  Unit<kLanes> unit;
  float squares = 0;
#pragma unroll
  for (int p = 0; p < unit.kPerLane; ++p) {
    unit.x[p] = lane + kLanes * p < kRows ? load(row[lane + kLanes * p]) : 0.0f;
    squares += unit.x[p] * unit.x[p];
  }
  unit.factor = kNORM ? rsqrtf(sum_of_lanes<kLanes>(squares) + 1e-12f) : 1.0f;
#pragma unroll
  for (int p = 0; p < unit.kPerLane; ++p) {
    unit.x[p] *= unit.factor;
  }
  return unit;
}

template <int kLanes>
__device__ void share(const Unit<kLanes>& unit, float* shared) {
  const int lane = threadIdx.x % kLanes;
#pragma unroll
  for (int p = 0; p < unit.kPerLane; ++p) {
    if (lane + kLanes * p < kRows) {
      shared[lane + kLanes * p] = unit.x[p];
    }
  }
}

// A lane's column of a state; a lane that is not active has none, and zeros.
inline __device__ void load_column(const bf16* from, int column, bool active, float (&S)[kRows]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    S[i] = active ? load(from[i * kColumns + column]) : 0.0f;
  }
}

inline __device__ void store_column(const float (&S)[kRows], int column, bf16* to) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    to[i * kColumns + column] = store(S[i]);
  }
}

// v - S^T k^
inline __device__ float retrieve_column(const float (&S)[kRows], const float* k, float v) {
  float delta = v;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    delta -= S[i] * k[i];
  }
  return delta;
}

// S = tanh(decay S + k^ delta^T)
inline __device__ void advance_column(float (&S)[kRows], const float* k, float delta, float decay) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    S[i] = tanhf(decay * S[i] + k[i] * delta);
  }
}

}  // namespace
