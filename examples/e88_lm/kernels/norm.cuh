// norm.cuh - the residual stream and its RMSNorm, forward and backward.
#pragma once
#include "formulas.h"
#include "vectors.cuh"

namespace byte_lm {

// A block a row: after = before + x where x is given, else `after` holds the sum already; normed = after / rms *
// weight.
inline __device__ void add_norm_row(long long dim, const bf16* x, const float* before, float* after,
                                    const float* weight, bf16* normed, float* inverse_rms) {
  const long long row = blockIdx.x, first = row * dim;
  float squares = 0;
  for (long long i = 8 * threadIdx.x; i < dim; i += 8 * blockDim.x) {
    Eight sum = load_eight((x == nullptr ? after : before) + first + i);
    if (x != nullptr) {
      const Eight added = load_eight(x + first + i);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        sum.x[j] += added.x[j];
      }
      store_eight(sum, after + first + i);
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      squares += sum.x[j] * sum.x[j];
    }
  }
  const float scale = rsqrtf(block_sum(squares) / static_cast<float>(dim) + static_cast<float>(kNormEpsilon));
  for (long long i = 8 * threadIdx.x; i < dim; i += 8 * blockDim.x) {
    Eight sum = load_eight(after + first + i);
    const Eight w = load_eight(weight + i);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      sum.x[j] *= scale * w.x[j];
    }
    store_eight(sum, normed + first + i);
  }
  if (threadIdx.x == 0) {
    inverse_rms[row] = scale;
  }
}

// Rows are dealt out to the blocks. With u = residual / rms, e = d_normed: d = (e w - u mean(e w u)) / rms is added to
// `arrived` where that is given, and d_weight = sum over rows of e u, of which `partials` gets a row a block. `sums`
// has dim floats of shared memory; a thread uses its own columns only.
inline __device__ void norm_backward_rows(long long rows, long long dim, const float* d_normed, const float* residual,
                                          const float* inverse_rms, const float* weight, const float* arrived,
                                          float* d_residual, bf16* d_x, float* partials, float* sums) {
  const long long begin = 8 * threadIdx.x, stride = 8 * blockDim.x;
  for (long long i = begin; i < dim; i += stride) {
    store_eight(Eight{}, sums + i);
  }
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    const float scale = inverse_rms[row];
    const long long first = row * dim;
    float along = 0;
    for (long long i = begin; i < dim; i += stride) {
      const Eight e = load_eight(d_normed + first + i), r = load_eight(residual + first + i),
                  w = load_eight(weight + i);
      Eight sum = load_eight(sums + i);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float product = e.x[j] * r.x[j] * scale;
        along += product * w.x[j];
        sum.x[j] += product;
      }
      store_eight(sum, sums + i);
    }
    const float mean = block_sum(along) / static_cast<float>(dim);
    for (long long i = begin; i < dim; i += stride) {
      const Eight e = load_eight(d_normed + first + i), r = load_eight(residual + first + i),
                  w = load_eight(weight + i);
      Eight d = arrived == nullptr ? Eight{} : load_eight(arrived + first + i);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        d.x[j] += scale * (e.x[j] * w.x[j] - r.x[j] * scale * mean);
      }
      store_eight(d, d_residual + first + i);
      store_eight(d, d_x + first + i);
    }
  }
  for (long long i = begin; i < dim; i += stride) {
    store_eight(load_eight(sums + i), partials + blockIdx.x * dim + i);
  }
}

}  // namespace byte_lm
