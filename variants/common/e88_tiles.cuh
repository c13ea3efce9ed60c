// variants/common/e88_tiles.cuh - a state in registers, a tile of it a lane: sums over the lanes that share columns.
#pragma once
#include "words.cuh"

namespace {

// sum_i S[i][j] x[i] over the lane's rows of its columns
template <int kRows, int kColumns>
__device__ void partial_sums(const float (&S)[kRows][kColumns], const float (&x)[kRows], float (&sums)[kColumns]) {
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    float even = 0, odd = 0;
#pragma unroll
    for (int r = 0; r < kRows; r += 2) {
      even += S[r][c] * x[r];
      odd += S[r + 1][c] * x[r + 1];
    }
    sums[c] = even + odd;
  }
}

// Adds up the sums of lanes that differ in `bit`.
template <int kColumns>
__device__ void add_lanes(float (&sums)[kColumns], int bit) {
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    sums[c] += __shfl_xor_sync(kAll, sums[c], bit);
  }
}

// sum_i S[i][j] x[i] of the lane's columns, in all four lanes that share them
template <class Place, int kRows, int kColumns>
__device__ void column_sums(const Place&, const float (&S)[kRows][kColumns], const float (&x)[kRows],
                            float (&sums)[kColumns]) {
  partial_sums(S, x, sums);
  add_lanes(sums, 1);
  add_lanes(sums, 2);
}

}  // namespace
