// variants/common/e88_split.cuh - a state of 32 x 32 dealt out by columns: 32 / COLUMNS warps share a sequence and
// never meet in its recurrence; in a warp as many lanes share a column, COLUMNS rows of it each.
#pragma once
#include "words.cuh"

namespace {

constexpr int kSideOfState = 32;
constexpr int kWarps = kSideOfState / COLUMNS;  // that share a sequence
constexpr int kLanes = kSideOfState / COLUMNS;  // that share a column

// Lane (g, c) of a warp, g = lane % kLanes and c = lane / kLanes, has rows COLUMNS g.. of its column c.
struct ColumnPlace {
  int warp, lane, group, column, first_row;
  __device__ ColumnPlace(int warp_of_sequence, int lane_of_warp)
      : warp(warp_of_sequence),
        lane(lane_of_warp),
        group(lane % kLanes),
        column(COLUMNS * warp + lane / kLanes),
        first_row(COLUMNS * group) {}
  __device__ int summed_row() const { return first_row + lane / kLanes; }  // the one of scatter_rows
  __device__ int first_element() const { return first_row * kSideOfState + column; }
};

// Entries of k^ or q^ for the rows of a lane.
inline __device__ void load_rows(const float* from, float (&x)[COLUMNS]) {
#pragma unroll
  for (int r = 0; r < COLUMNS; r += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + r);
    x[r] = four.x;
    x[r + 1] = four.y;
    x[r + 2] = four.z;
    x[r + 3] = four.w;
  }
}

inline __device__ float dot_of_rows(const float (&S)[COLUMNS], const float (&x)[COLUMNS]) {
  float even = 0, odd = 0;
#pragma unroll
  for (int r = 0; r < COLUMNS; r += 2) {
    even += S[r] * x[r];
    odd += S[r + 1] * x[r + 1];
  }
  return even + odd;
}

// Sums x[r] over the lanes that share the rows; the lane gets the sum of its summed_row().
inline __device__ float scatter_rows(int lane, float (&x)[COLUMNS]) {
#pragma unroll
  for (int half = COLUMNS / 2; half > 0; half /= 2) {
    const bool upper = lane & (half * kLanes);
#pragma unroll
    for (int r = 0; r < half; ++r) {
      x[r] = (upper ? x[r + half] : x[r]) + __shfl_xor_sync(kAll, upper ? x[r] : x[r + half], half * kLanes);
    }
  }
  return x[0];
}

}  // namespace
