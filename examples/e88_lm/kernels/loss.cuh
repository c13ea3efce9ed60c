// loss.cuh - cross-entropy over 256 bytes, a warp a row.
#pragma once
#include "vectors.cuh"

namespace byte_lm {

inline __device__ float warp_max(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}

// The loss in nats, 0 for a target below 0, and the gradient of `factor` times it. A lane has eight logits.
inline __device__ void cross_entropy_row(long long rows, const float* logits, const int* targets, float factor,
                                         float* losses, bf16* d_logits) {
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) {
    return;
  }
  const int target = targets[row];
  const Eight x = load_eight(logits + row * 256 + 8 * lane);
  float largest = x.x[0], sum = 0, hit = 0;
#pragma unroll
  for (int j = 1; j < 8; ++j) {
    largest = fmaxf(largest, x.x[j]);
  }
  largest = warp_max(largest);
  Eight d;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    d.x[j] = expf(x.x[j] - largest);
    sum += d.x[j];
    hit += 8 * lane + j == target ? x.x[j] - largest : 0.0f;
  }
  sum = warp_sum(sum);
  hit = warp_sum(hit);  // of one lane
  const float scale = target < 0 ? 0.0f : factor;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    d.x[j] = scale * (d.x[j] / sum - (8 * lane + j == target ? 1.0f : 0.0f));
  }
  store_eight(d, d_logits + row * 256 + 8 * lane);
  if (lane == 0) {
    losses[row] = target < 0 ? 0.0f : logf(sum) - hit;
  }
}

}  // namespace byte_lm
