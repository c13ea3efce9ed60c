// cuda/launch.h - launches the kernels of kernels/; what each does is said there.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/formulas.h"
#include "model/views.h"

namespace byte_lm::launch {

using bf16 = __nv_bfloat16;

// Rows of partial sums: two blocks for each multiprocessor of a large GPU.
constexpr int kPartials = 256;

void embed(cudaStream_t stream, std::int64_t rows, std::int64_t dim, const std::int32_t* tokens, const bf16* embedding,
           float* residual);
void embedding_gradient(cudaStream_t stream, std::int64_t dim, const std::int32_t* order, const std::int32_t* starts,
                        const float* d_residual, float* d_embedding);
void add_norm(cudaStream_t stream, std::int64_t rows, std::int64_t dim, const bf16* x, const float* before,
              float* after, const float* weight, bf16* normed, float* inverse_rms);
// `partials`: kPartials * dim
void norm_backward(cudaStream_t stream, std::int64_t rows, std::int64_t dim, const NormGradient<bf16, float>& g,
                   float* partials);
void activate(cudaStream_t stream, std::int64_t rows, std::int64_t width, const Projection<bf16>& p, bf16* q, bf16* k,
              bf16* v, bf16* gate);
void activate_backward(cudaStream_t stream, std::int64_t rows, std::int64_t width, const Projection<bf16>& p,
                       const bf16* dq, const bf16* dk, const bf16* dv, const bf16* d_gate, const Projection<bf16>& d);
void decay(cudaStream_t stream, std::int64_t rows, std::int64_t heads, View<const bf16> alpha, const float* a_log,
           const float* dt_bias, bf16* decay);
// `partials`: kPartials * 2 * heads
void decay_backward(cudaStream_t stream, std::int64_t rows, std::int64_t heads, const DecayGradient<bf16, float>& g,
                    float* partials);
void cross_entropy(cudaStream_t stream, std::int64_t rows, const float* logits, const std::int32_t* targets,
                   const StepScalars* scalars, float* losses, bf16* d_logits);
// `partials`: kPartials
void sum(cudaStream_t stream, bool squares, std::int64_t count, const float* values, double* partials, double* total);
void adamw(cudaStream_t stream, std::int64_t count, std::int64_t matrices, const AdamSettings& settings,
           const StepScalars* scalars, const double* squares, float* masters, const float* gradients, float* first,
           float* second, bf16* weights);
void round_weights(cudaStream_t stream, std::int64_t count, const float* masters, bf16* weights);

}  // namespace byte_lm::launch
