// variants/common/e88_wide.cuh - tiles of wide states: 8 or 16 lanes share columns that only their warp has. A lane
// owns eight rows and 4 or 8 neighbouring columns; its Place has `kRowLanes`, the lanes of a column, and `group`, its
// number among them, `lane`, `column`, the first one it owns, and row(r).
#pragma once
#include "words.cuh"

namespace {

// Entries of k^ or q^ for the rows of the lane: four neighbouring rows of each half of the state, so that the loads of
// a warp meet all banks.
template <class Place>
__device__ Eight load_rows(const Place& p, const float* from) {
  const float4 a = *reinterpret_cast<const float4*>(from + p.row(0));
  const float4 b = *reinterpret_cast<const float4*>(from + p.row(4));
  return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
}

// Halves what is left to sum of x, with the lane that differs in `bit`.
template <int kLeft, class Place, int kCount>
__device__ void exchange(const Place& p, int bit, float (&x)[kCount]) {
  const bool upper = p.lane & bit;
#pragma unroll
  for (int r = 0; r < kLeft; ++r) {
    const float low_half = x[r], high_half = x[r + kLeft];
    x[r] = (upper ? high_half : low_half) + __shfl_xor_sync(kAll, upper ? low_half : high_half, bit);
  }
}

// The sum of x[c] over the lanes of a column; which column a lane gets says `owned`.
template <class Place, int kTileColumns>
__device__ float sum_of_column(const Place& p, float (&x)[kTileColumns]) {
  if constexpr (kTileColumns == 8) {
    exchange<4>(p, Place::kRowLanes / 2, x);
  }
  constexpr int next = kTileColumns == 8 ? Place::kRowLanes / 4 : Place::kRowLanes / 2;
  exchange<2>(p, next, x);
  exchange<1>(p, next / 2, x);
  float sum = x[0];
#pragma unroll
  for (int step = next / 4; step > 0; step /= 2) {
    sum += __shfl_xor_sync(kAll, sum, step);
  }
  return sum;
}

template <int kTileColumns, class Place>
__device__ int owned(const Place& p) {
  constexpr int next = kTileColumns == 8 ? Place::kRowLanes / 4 : Place::kRowLanes / 2;
  return p.column + (kTileColumns == 8 && p.group & (Place::kRowLanes / 2) ? 4 : 0) + (p.group & next ? 2 : 0) +
         (p.group & (next / 2) ? 1 : 0);
}

// Whether this lane is the one that speaks for its owned column.
template <int kTileColumns, class Place>
__device__ bool speaks(const Place& p) {
  return p.group % (Place::kRowLanes / kTileColumns) == 0;
}

}  // namespace
