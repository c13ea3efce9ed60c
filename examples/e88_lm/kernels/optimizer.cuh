// optimizer.cuh - sums over all elements in a fixed order, and AdamW.
#pragma once
#include "formulas.h"
#include "vectors.cuh"

namespace byte_lm {

// partials[block] = the block's share of sum values, or of sum values^2.
inline __device__ void partial_sum(bool squares, long long count, const float* values, double* partials) {
  double sum = 0;
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x, whole = count / 8;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long i = thread; i < whole; i += threads) {
    const Eight eight = load_eight(values + 8 * i);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const double value = eight.x[j];
      sum += squares ? value * value : value;
    }
  }
  for (long long i = 8 * whole + thread; i < count; i += threads) {
    const double value = values[i];
    sum += squares ? value * value : value;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = sum;
  }
}

// One block.
inline __device__ void sum_of_partials(int count, const double* partials, double* total) {
  double sum = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    sum += partials[i];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) {
    *total = sum;
  }
}

// The elements before `matrices` decay; counts are multiples of 8.
inline __device__ void adamw_eight(long long count, long long matrices, const AdamSettings& settings,
                                   const StepScalars* scalars, const double* squares, float* masters,
                                   const float* gradients, float* first, float* second, bf16* weights) {
  __shared__ float factor;
  if (threadIdx.x == 0) {
    factor = static_cast<float>(clip_factor(settings, *squares));
  }
  __syncthreads();
  const long long at = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 8;
  if (at >= count) {
    return;
  }
  const StepScalars step = *scalars;
  const Eight gradient = load_eight(gradients + at);
  Eight master = load_eight(masters + at), m = load_eight(first + at), v = load_eight(second + at);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    adamw(settings, step, gradient.x[j] * factor, at < matrices, master.x[j], m.x[j], v.x[j]);
  }
  store_eight(master, masters + at);
  store_eight(m, first + at);
  store_eight(v, second + at);
  store_eight(master, weights + at);
}

inline __device__ void round_eight(long long count, const float* from, bf16* to) {
  const long long at = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 8;
  if (at < count) {
    store_eight(load_eight(from + at), to + at);
  }
}

}  // namespace byte_lm
