// variants/common/e88_split.cuh - a state of 32 x 32 dealt out by columns: 32 / COLUMNS warps share a sequence and
// never meet in its recurrence; in a warp as many lanes share a column, COLUMNS rows of it each.
#pragma once
#include "words.cuh"

namespace {

constexpr int kSideOfState = 32;
constexpr int kWarps = kSideOfState / COLUMNS;  // that share a sequence
constexpr int kLanes = kSideOfState / COLUMNS;  // that share a column
static_assert(kLanes == 2 || kLanes == 4);

// Lane (g, c) of a warp, g = lane % kLanes and c = lane / kLanes, has rows COLUMNS g.. of its column c.
struct ColumnPlace {
  int warp, lane, group, column, first_row;
  int swap;  // lanes of the upper half hold the two halves of their rows in reverse order, which saves selects
  __device__ ColumnPlace(int warp_of_sequence, int lane_of_warp)
      : warp(warp_of_sequence),
        lane(lane_of_warp),
        group(lane % kLanes),
        column(COLUMNS * warp + lane / kLanes),
        first_row(COLUMNS * group),
        swap(lane / 16 * (COLUMNS / 2)) {}
  __device__ int summed_row() const { return first_row + lane / kLanes; }  // the one of scatter_rows
  __device__ int row(int r) const { return first_row + (r ^ swap); }
  __device__ int element(int r) const { return row(r) * kSideOfState + column; }
};

// The warp's number in its block, the same in all lanes as the compiler sees: shuffles of one role need no way round
// lanes that are elsewhere, and no branch before them ends the straight line of a step.
inline __device__ int uniform_warp() {
  return __shfl_sync(kAll, static_cast<int>(threadIdx.x / 32), 0);
}

inline __device__ void load_four(const float* from, float* x) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  x[0] = four.x;
  x[1] = four.y;
  x[2] = four.z;
  x[3] = four.w;
}

// Entries of k^ or q^ for the rows of a lane.
inline __device__ void load_rows(const ColumnPlace& p, const float* from, float (&x)[COLUMNS]) {
#pragma unroll
  for (int r = 0; r < COLUMNS; r += 4) {
    load_four(from + p.row(r), x + r);
  }
}

// The lane's rows of a state in memory.
inline __device__ void load_own(const ColumnPlace& p, const bf16* from, float (&S)[COLUMNS]) {
#pragma unroll
  for (int r = 0; r < COLUMNS; ++r) {
    S[r] = load(from[p.element(r)]);
  }
}

inline __device__ void store_own(const ColumnPlace& p, const float (&S)[COLUMNS], bf16* to) {
#pragma unroll
  for (int r = 0; r < COLUMNS; ++r) {
    to[p.element(r)] = store(S[r]);
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

// The sum of x over the lanes that share a column, in each of them. Four lanes exchange at once: three shuffles that do
// not wait for one another take half the time of two that do.
inline __device__ float sum_of_column(float x) {
  if constexpr (kLanes == 2) {
    return x + __shfl_xor_sync(kAll, x, 1);
  }
  const float first = __shfl_xor_sync(kAll, x, 1), second = __shfl_xor_sync(kAll, x, 2);
  return (x + first) + (second + __shfl_xor_sync(kAll, x, 3));
}

// Sums x[r] over the lanes that share the rows; the lane gets the sum of its summed_row().
inline __device__ float scatter_rows(int lane, float (&x)[COLUMNS]) {
#pragma unroll
  for (int half = COLUMNS / 2; half > 0; half /= 2) {
    const bool upper = half < COLUMNS / 2 && lane & (half * kLanes);
#pragma unroll
    for (int r = 0; r < half; ++r) {
      x[r] = (upper ? x[r + half] : x[r]) + __shfl_xor_sync(kAll, upper ? x[r] : x[r + half], half * kLanes);
    }
  }
  return x[0];
}

}  // namespace
