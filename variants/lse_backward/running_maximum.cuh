// variants/lse_backward/running_maximum.cuh - dq by attention's forward: a factor a row of its output with V = K.
//
// dq = dlse scale exp(largest - lse) sum_j exp(s_j - largest) k_j: a training step that makes dq in its forward has lse
// and dq but for dlse from one loop, 2 products in place of 1 there and 2 in place of 4 here, so 4 in place of 5.
#pragma once
#include "tensor_tiles.cuh"

namespace {

// The largest score so far in place of lse, as in a forward, which does not know it yet.
struct ByRunningMaximum {
  float given[2];  // lse

  __device__ void begin(float (&largest)[2]) {
    for (int r = 0; r < 2; ++r) {
      given[r] = largest[r];
      largest[r] = -1e30f;
    }
  }
  template <int kD, int kKeys, class Hidden>
  __device__ void look(const Scale& scale, const float (&p)[kKeys / 8][4], float (&sums)[kD / 8][4],
                       float (&largest)[2], Hidden is_hidden_pair) {
    float smaller[2] = {largest[0], largest[1]};
#pragma unroll
    for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        const float score = is_hidden_pair(n, v) ? -1e30f : scale.score2(p[n][v]);
        largest[v / 2] = fmaxf(largest[v / 2], score);
      }
    }
    for (int r = 0; r < 2; ++r) {  // the four lanes of a row
      largest[r] = fmaxf(largest[r], __shfl_xor_sync(kAll, largest[r], 1));
      largest[r] = fmaxf(largest[r], __shfl_xor_sync(kAll, largest[r], 2));
      smaller[r] = exp2f(smaller[r] - largest[r]);
    }
#pragma unroll
    for (int n = 0; n < kD / 8; ++n) {
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        sums[n][v] *= smaller[v / 2];
      }
    }
  }
  __device__ void finish(const float (&largest)[2], float (&factor)[2]) const {
    for (int r = 0; r < 2; ++r) {
      factor[r] *= exp2f(largest[r] - given[r]);
    }
  }
};

}  // namespace
