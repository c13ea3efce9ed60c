// decay.cuh - from alpha to the decay of a head's state, and back.
#pragma once
#include "formulas.h"
#include "vectors.cuh"

namespace byte_lm {

inline __device__ void decay_element(long long rows, long long heads, const bf16* alpha, long long stride,
                                     const float* a_log, const float* dt_bias, bf16* decay) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at < rows * heads) {
    const long long row = at / heads, head = at % heads;
    const Decay<float> of(__bfloat162float(alpha[row * stride + head]), a_log[head], dt_bias[head]);
    decay[at] = __float2bfloat16_rn(of.value);
  }
}

// A thread a head; rows are dealt out to the blocks. `partials` gets a row a block: heads sums for a_log, then heads
// for dt_bias.
inline __device__ void decay_backward_rows(long long rows, long long heads, const bf16* alpha, long long stride,
                                           const float* a_log, const float* dt_bias, const bf16* d_decay, bf16* d_alpha,
                                           long long d_stride, float* partials) {
  for (long long head = threadIdx.x; head < heads; head += blockDim.x) {
    float d_a_log = 0, d_dt_bias = 0;
    for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
      const Decay<float> of(__bfloat162float(alpha[row * stride + head]), a_log[head], dt_bias[head]);
      const float arriving = __bfloat162float(d_decay[row * heads + head]);
      const float through = of.alpha_gradient(arriving);
      d_alpha[row * d_stride + head] = __float2bfloat16_rn(through);
      d_dt_bias += through;
      d_a_log += of.a_log_gradient(arriving);
    }
    partials[blockIdx.x * 2 * heads + head] = d_a_log;
    partials[(blockIdx.x * 2 + 1) * heads + head] = d_dt_bias;
  }
}

}  // namespace byte_lm
