// cuda/launch.cu - the kernels of kernels/ as __global__ functions, and their grids.
#include <algorithm>

#include "cuda/check_status.h"
#include "cuda/launch.h"
#include "kernels/activations.cuh"
#include "kernels/decay.cuh"
#include "kernels/embedding.cuh"
#include "kernels/loss.cuh"
#include "kernels/norm.cuh"
#include "kernels/optimizer.cuh"

namespace byte_lm::launch {
namespace {

constexpr int kThreads = 256;
constexpr int kActivationThreads = 128;

__global__ void embed_kernel(long long rows, long long dim, const int* tokens, const bf16* embedding, float* residual) {
  embed_eight(rows, dim, tokens, embedding, residual);
}

__global__ void embedding_gradient_kernel(long long dim, const int* order, const int* starts, const float* d_residual,
                                          float* d_embedding) {
  embedding_gradient_column(dim, order, starts, d_residual, d_embedding);
}

__global__ void __launch_bounds__(kThreads)
    add_norm_kernel(long long dim, const bf16* x, const float* before, float* after, const float* weight, bf16* normed,
                    float* inverse_rms) {
  add_norm_row(dim, x, before, after, weight, normed, inverse_rms);
}

__global__ void __launch_bounds__(kThreads)
    norm_backward_kernel(long long rows, long long dim, NormGradient<bf16, float> g, float* partials) {
  extern __shared__ float4 shared[];
  norm_backward_rows(rows, dim, g.d_normed, g.residual, g.inverse_rms, g.weight, g.is_first ? nullptr : g.d_residual,
                     g.d_residual, g.d_x, partials, reinterpret_cast<float*>(shared));
}

__global__ void __launch_bounds__(kThreads)
    column_sums_kernel(long long rows, long long columns, long long stride, const float* partials, float* out) {
  column_sums(rows, columns, stride, partials, out);
}

__global__ void activate_kernel(long long width, Projection<bf16> p, bf16* q, bf16* k, bf16* v, bf16* gate) {
  activate_eight(width, p.qkv.data, p.qkv.stride, p.gate.data, p.gate.stride, q, k, v, gate);
}

__global__ void activate_backward_kernel(long long width, Projection<bf16> p, const bf16* dq, const bf16* dk,
                                         const bf16* dv, const bf16* d_gate, Projection<bf16> d) {
  activate_backward_eight(width, p.qkv.data, p.qkv.stride, dq, dk, dv, d_gate, d.qkv.data, d.qkv.stride, d.gate.data,
                          d.gate.stride);
}

__global__ void decay_kernel(long long rows, long long heads, View<const bf16> alpha, const float* a_log,
                             const float* dt_bias, bf16* decay) {
  decay_element(rows, heads, alpha.data, alpha.stride, a_log, dt_bias, decay);
}

__global__ void decay_backward_kernel(long long rows, long long heads, DecayGradient<bf16, float> g, float* partials) {
  decay_backward_rows(rows, heads, g.alpha.data, g.alpha.stride, g.a_log, g.dt_bias, g.d_decay, g.d_alpha.data,
                      g.d_alpha.stride, partials);
}

__global__ void cross_entropy_kernel(long long rows, const float* logits, const int* targets,
                                     const StepScalars* scalars, float* losses, bf16* d_logits) {
  cross_entropy_row(rows, logits, targets, static_cast<float>(scalars->inverse_scored), losses, d_logits);
}

__global__ void partial_sum_kernel(bool squares, long long count, const float* values, double* partials) {
  partial_sum(squares, count, values, partials);
}

__global__ void sum_of_partials_kernel(int count, const double* partials, double* total) {
  sum_of_partials(count, partials, total);
}

__global__ void adamw_kernel(long long count, long long matrices, AdamSettings settings, const StepScalars* scalars,
                             const double* squares, float* masters, const float* gradients, float* first, float* second,
                             bf16* weights) {
  adamw_eight(count, matrices, settings, scalars, squares, masters, gradients, first, second, weights);
}

__global__ void round_kernel(long long count, const float* from, bf16* to) {
  round_eight(count, from, to);
}

// Blocks of kThreads that have a thread for each of `count`.
unsigned blocks(std::int64_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

unsigned sum_blocks(std::int64_t columns) {
  return static_cast<unsigned>((columns + 31) / 32);
}

dim3 activation_grid(std::int64_t rows, std::int64_t width) {
  const std::int64_t threads = width / 2;  // of eight elements of four parts
  return dim3(static_cast<unsigned>(rows),
              static_cast<unsigned>((threads + kActivationThreads - 1) / kActivationThreads));
}

unsigned partial_blocks(std::int64_t rows) {
  return static_cast<unsigned>(std::min<std::int64_t>(rows, kPartials));
}

void launched(const char* kernel) {
  check(cudaPeekAtLastError(), kernel);
}

}  // namespace

void embed(cudaStream_t stream, std::int64_t rows, std::int64_t dim, const std::int32_t* tokens, const bf16* embedding,
           float* residual) {
  embed_kernel<<<blocks(rows * dim / 8), kThreads, 0, stream>>>(rows, dim, tokens, embedding, residual);
  launched("embed");
}

void embedding_gradient(cudaStream_t stream, std::int64_t dim, const std::int32_t* order, const std::int32_t* starts,
                        const float* d_residual, float* d_embedding) {
  const dim3 grid(static_cast<unsigned>(kVocabulary), blocks(dim));
  embedding_gradient_kernel<<<grid, kThreads, 0, stream>>>(dim, order, starts, d_residual, d_embedding);
  launched("embedding_gradient");
}

void add_norm(cudaStream_t stream, std::int64_t rows, std::int64_t dim, const bf16* x, const float* before,
              float* after, const float* weight, bf16* normed, float* inverse_rms) {
  add_norm_kernel<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(dim, x, before, after, weight, normed,
                                                                        inverse_rms);
  launched("add_norm");
}

void norm_backward(cudaStream_t stream, std::int64_t rows, std::int64_t dim, const NormGradient<bf16, float>& g,
                   float* partials) {
  const unsigned grid = partial_blocks(rows);
  const std::size_t shared = sizeof(float) * static_cast<std::size_t>(dim);
  check(
      cudaFuncSetAttribute(norm_backward_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
      "norm_backward");
  norm_backward_kernel<<<grid, kThreads, shared, stream>>>(rows, dim, g, partials);
  column_sums_kernel<<<sum_blocks(dim), kThreads, 0, stream>>>(grid, dim, dim, partials, g.d_weight);
  launched("norm_backward");
}

void activate(cudaStream_t stream, std::int64_t rows, std::int64_t width, const Projection<bf16>& p, bf16* q, bf16* k,
              bf16* v, bf16* gate) {
  bf16* moved = gate == p.gate.data ? nullptr : gate;
  activate_kernel<<<activation_grid(rows, width), kActivationThreads, 0, stream>>>(width, p, q, k, v, moved);
  launched("activate");
}

void activate_backward(cudaStream_t stream, std::int64_t rows, std::int64_t width, const Projection<bf16>& p,
                       const bf16* dq, const bf16* dk, const bf16* dv, const bf16* d_gate, const Projection<bf16>& d) {
  Projection<bf16> to = d;
  to.gate.data = d_gate == d.gate.data ? nullptr : d.gate.data;
  activate_backward_kernel<<<activation_grid(rows, width), kActivationThreads, 0, stream>>>(width, p, dq, dk, dv,
                                                                                            d_gate, to);
  launched("activate_backward");
}

void decay(cudaStream_t stream, std::int64_t rows, std::int64_t heads, View<const bf16> alpha, const float* a_log,
           const float* dt_bias, bf16* decay) {
  decay_kernel<<<blocks(rows * heads), kThreads, 0, stream>>>(rows, heads, alpha, a_log, dt_bias, decay);
  launched("decay");
}

void decay_backward(cudaStream_t stream, std::int64_t rows, std::int64_t heads, const DecayGradient<bf16, float>& g,
                    float* partials) {
  const unsigned grid = partial_blocks(rows);
  decay_backward_kernel<<<grid, 128, 0, stream>>>(rows, heads, g, partials);
  column_sums_kernel<<<sum_blocks(heads), kThreads, 0, stream>>>(grid, heads, 2 * heads, partials, g.d_a_log);
  column_sums_kernel<<<sum_blocks(heads), kThreads, 0, stream>>>(grid, heads, 2 * heads, partials + heads, g.d_dt_bias);
  launched("decay_backward");
}

void cross_entropy(cudaStream_t stream, std::int64_t rows, const float* logits, const std::int32_t* targets,
                   const StepScalars* scalars, float* losses, bf16* d_logits) {
  cross_entropy_kernel<<<blocks(32 * rows), kThreads, 0, stream>>>(rows, logits, targets, scalars, losses, d_logits);
  launched("cross_entropy");
}

void sum(cudaStream_t stream, bool squares, std::int64_t count, const float* values, double* partials, double* total) {
  partial_sum_kernel<<<kPartials, 512, 0, stream>>>(squares, count, values, partials);
  sum_of_partials_kernel<<<1, kThreads, 0, stream>>>(kPartials, partials, total);
  launched("sum");
}

void adamw(cudaStream_t stream, std::int64_t count, std::int64_t matrices, const AdamSettings& settings,
           const StepScalars* scalars, const double* squares, float* masters, const float* gradients, float* first,
           float* second, bf16* weights) {
  adamw_kernel<<<blocks(count / 8), kThreads, 0, stream>>>(count, matrices, settings, scalars, squares, masters,
                                                           gradients, first, second, weights);
  launched("adamw");
}

void round_weights(cudaStream_t stream, std::int64_t count, const float* masters, bf16* weights) {
  round_kernel<<<blocks(count / 8), kThreads, 0, stream>>>(count, masters, weights);
  launched("round_weights");
}

}  // namespace byte_lm::launch
