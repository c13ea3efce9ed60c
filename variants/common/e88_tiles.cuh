// variants/common/e88_tiles.cuh - a state in registers, a tile of it a lane: sums over the lanes that share columns.
#pragma once
#include "words.cuh"

namespace {

// sum_i S[i][j] x[i] over the lane's rows of its columns
template <int kTileRows, int kTileColumns>
__device__ void partial_sums(const float (&S)[kTileRows][kTileColumns], const float (&x)[kTileRows],
                             float (&sums)[kTileColumns]) {
#pragma unroll
  for (int c = 0; c < kTileColumns; ++c) {
    float even = 0, odd = 0;
#pragma unroll
    for (int r = 0; r < kTileRows; r += 2) {
      even += S[r][c] * x[r];
      odd += S[r + 1][c] * x[r + 1];
    }
    sums[c] = even + odd;
  }
}

// Adds up the sums of lanes that differ in `bit`.
template <int kTileColumns>
__device__ void add_lanes(float (&sums)[kTileColumns], int bit) {
#pragma unroll
  for (int c = 0; c < kTileColumns; ++c) {
    sums[c] += __shfl_xor_sync(kAll, sums[c], bit);
  }
}

// sum_i S[i][j] x[i] of the lane's columns, in all four lanes that share them
template <class Place, int kTileRows, int kTileColumns>
__device__ void column_sums(const Place&, const float (&S)[kTileRows][kTileColumns], const float (&x)[kTileRows],
                            float (&sums)[kTileColumns]) {
  partial_sums(S, x, sums);
  add_lanes(sums, 1);
  add_lanes(sums, 2);
}

// D takes q^ dy^T and goes back through tanh, whose value is S; the lane's sums for dq^ and dk^.
template <int kTileRows, int kTileColumns>
__device__ void back_through_tanh(const float (&S)[kTileRows][kTileColumns], float (&D)[kTileRows][kTileColumns],
                                  const float (&q)[kTileRows], const float (&dy)[kTileColumns],
                                  const float (&delta)[kTileColumns], float (&dq)[kTileRows], float (&dk)[kTileRows]) {
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    dq[r] = 0;
    dk[r] = 0;
#pragma unroll
    for (int c = 0; c < kTileColumns; ++c) {
      dq[r] += S[r][c] * dy[c];
      D[r][c] = (D[r][c] + q[r] * dy[c]) * (1.0f - S[r][c] * S[r][c]);
      dk[r] += D[r][c] * delta[c];
    }
  }
}

// With S_{t-1} in words of fp16, row by row: D becomes dL/dS_{t-1}, S becomes S_{t-1}, and the sums take their parts.
template <int kTileRows, int kTileColumns>
__device__ void back_to_state(const uint4 (&before)[kTileRows * kTileColumns / 8], float decay,
                              const float (&k)[kTileRows], const float (&d_delta)[kTileColumns],
                              float (&S)[kTileRows][kTileColumns], float (&D)[kTileRows][kTileColumns],
                              float (&dk)[kTileRows], float& d_decay) {
#pragma unroll
  for (int word = 0; word < kTileRows * kTileColumns / 8; ++word) {
    const unsigned pairs[4] = {before[word].x, before[word].y, before[word].z, before[word].w};
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const int r = (8 * word + e) / kTileColumns, c = e % kTileColumns;
      const float earlier = e % 2 == 0 ? half_low(pairs[e / 2]) : half_high(pairs[e / 2]);
      d_decay += D[r][c] * earlier;
      dk[r] -= earlier * d_delta[c];
      D[r][c] = decay * D[r][c] - k[r] * d_delta[c];
      S[r][c] = earlier;
    }
  }
}

}  // namespace
