// embedding.cuh - rows of the embedding, and their gradient without atomics.
#pragma once
#include "vectors.cuh"

namespace byte_lm {

inline __device__ void embed_eight(long long rows, long long dim, const int* tokens, const bf16* embedding,
                                   float* residual) {
  const long long at = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 8;
  if (at < rows * dim) {
    store_eight(load_eight(embedding + tokens[at / dim] * dim + at % dim), residual + at);
  }
}

// blockIdx.x is a byte and a thread a column of its row: the rows of that byte stand in `order` from starts[byte], and
// are added in that order, so that two runs give the same bits.
inline __device__ void embedding_gradient_column(long long dim, const int* order, const int* starts,
                                                 const float* d_residual, float* d_embedding) {
  const long long column = static_cast<long long>(blockIdx.y) * blockDim.x + threadIdx.x;
  if (column >= dim) {
    return;
  }
  const int begin = starts[blockIdx.x], end = starts[blockIdx.x + 1];
  float sums[4] = {};
  int place = begin;
  for (; place + 4 <= end; place += 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      sums[i] += d_residual[order[place + i] * dim + column];
    }
  }
  for (; place < end; ++place) {
    sums[0] += d_residual[order[place] * dim + column];
  }
  d_embedding[blockIdx.x * dim + column] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace byte_lm
