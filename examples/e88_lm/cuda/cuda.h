// cuda/cuda.h - the operations of the model on a GPU: bf16 activations and weights, fp32 residual stream, gradients and
// masters. Everything runs on one stream and in a fixed order, without atomics of its own.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "cuda/check_status.h"
#include "cuda/e88_kernel.h"
#include "cuda/gemm.h"
#include "cuda/launch.h"

namespace byte_lm {

inline Recurrence extents_of(const ModelSize& size, const StepShape& shape) {
  return {.batch = shape.batch, .length = shape.length, .heads = size.heads, .state = size.state};
}

class Cuda {
 public:
  using Half = __nv_bfloat16;
  using Full = float;

  // A named part of a step, for profilers.
  class Range {
   public:
    explicit Range(const char* name) { nvtxRangePushA(name); }
    ~Range() { nvtxRangePop(); }
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
  };

  // `dispatch` has the tables of e88_forward and e88_backward. `records`: repeat() replays one graph.
  Cuda(const std::filesystem::path& dispatch, const ModelSize& size, const StepShape& shape, bool records);
  ~Cuda();
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;

  std::string kernels() const { return forward_.variant() + ", " + backward_.variant(); }

  Range range(const char* name) const { return Range(name); }

  // Zeroed; lives as long as the backend.
  template <class Type>
  Type* allocate(std::int64_t count) {
    return static_cast<Type*>(allocate_bytes(static_cast<std::size_t>(count) * sizeof(Type)));
  }
  // Both wait for the copy.
  template <class Type>
  void upload(const Type* from, std::int64_t count, Type* to) {
    copy(from, static_cast<std::size_t>(count) * sizeof(Type), to, cudaMemcpyHostToDevice);
  }
  template <class Type>
  void download(const Type* from, std::int64_t count, Type* to) {
    copy(from, static_cast<std::size_t>(count) * sizeof(Type), to, cudaMemcpyDeviceToHost);
  }

  // Calls `work`, or replays what it launched: the first call of all runs it as it is, because libraries set themselves
  // up then; the second records it.
  template <class Work>
  void repeat(const Work& work) {
    if (!records_ || !is_warm_) {
      work();
      is_warm_ = true;
      return;
    }
    if (graph_ == nullptr) {
      begin_recording();
      work();
      end_recording();
    }
    check(cudaGraphLaunch(graph_, stream_), "cudaGraphLaunch");
  }

  void round_weights(std::int64_t count, const Full* masters, Half* weights) {
    launch::round_weights(stream_, count, masters, weights);
  }
  void embed(std::int64_t rows, std::int64_t dim, const std::int32_t* tokens, const Half* embedding, Full* residual) {
    launch::embed(stream_, rows, dim, tokens, embedding, residual);
  }
  void add_norm(std::int64_t rows, std::int64_t dim, const Half* x, const Full* before, Full* after, const Full* weight,
                Half* normed, Full* inverse_rms) {
    launch::add_norm(stream_, rows, dim, x, before, after, weight, normed, inverse_rms);
  }
  void norm_backward(std::int64_t rows, std::int64_t dim, const NormGradient<Half, Full>& g) {
    launch::norm_backward(stream_, rows, dim, g, partials_);
  }

  void linear(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, const Half* x, const Half* w,
              View<Half> y) {
    gemm_.forward(rows, outputs, inputs, x, w, y);
  }
  void linear_full(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, const Half* x, const Half* w,
                   Full* y) {
    gemm_.forward(rows, outputs, inputs, x, w, View<Full>{y, outputs});
  }
  void linear_input_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const Half> dy,
                             const Half* w, Half* dx) {
    gemm_.input_gradient(rows, outputs, inputs, dy, w, dx, false);
  }
  void linear_input_gradient_full(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const Half> dy,
                                  const Half* w, Full* dx, bool adds) {
    gemm_.input_gradient(rows, outputs, inputs, dy, w, dx, adds);
  }
  void linear_weight_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const Half> dy,
                              const Half* x, Full* dw) {
    gemm_.weight_gradient(rows, outputs, inputs, dy, x, dw);
  }

  void activate(std::int64_t rows, std::int64_t width, const Projection<Half>& p, Half* q, Half* k, Half* v,
                Half* gate) {
    launch::activate(stream_, rows, width, p, q, k, v, gate);
  }
  void activate_backward(std::int64_t rows, std::int64_t width, const Projection<Half>& p, const Half* dq,
                         const Half* dk, const Half* dv, const Half* d_gate, const Projection<Half>& d) {
    launch::activate_backward(stream_, rows, width, p, dq, dk, dv, d_gate, d);
  }
  void decay(std::int64_t rows, std::int64_t heads, View<const Half> alpha, const Full* a_log, const Full* dt_bias,
             Half* decay) {
    launch::decay(stream_, rows, heads, alpha, a_log, dt_bias, decay);
  }
  void decay_backward(std::int64_t rows, std::int64_t heads, const DecayGradient<Half, Full>& g) {
    launch::decay_backward(stream_, rows, heads, g, partials_);
  }

  void e88_forward(const Recurrence&, const ForwardTensors<Half>& t) {
    forward_.run(stream_, {t.k, t.q, t.v, t.gate, t.decay, zero_state_, t.output, t.checkpoints, t.y_cache, state_});
  }
  void e88_backward(const Recurrence&, const BackwardTensors<Half>& t) {
    backward_.run(stream_, {t.k, t.q, t.v, t.gate, t.decay, t.d_output, zero_state_, t.checkpoints, t.y_cache, t.dk,
                            t.dq, t.dv, t.d_gate, t.d_decay, state_});
  }

  void cross_entropy(std::int64_t rows, const Full* logits, const std::int32_t* targets, const StepScalars* scalars,
                     Full* losses, Half* d_logits) {
    launch::cross_entropy(stream_, rows, logits, targets, scalars, losses, d_logits);
  }
  void embedding_gradient(std::int64_t, std::int64_t dim, const std::int32_t* order, const std::int32_t* starts,
                          const Full* d_residual, Full* d_embedding) {
    launch::embedding_gradient(stream_, dim, order, starts, d_residual, d_embedding);
  }
  void sum(std::int64_t count, const Full* values, double* total) {
    launch::sum(stream_, false, count, values, sums_, total);
  }
  void sum_squares(std::int64_t count, const Full* values, double* total) {
    launch::sum(stream_, true, count, values, sums_, total);
  }
  void adamw(std::int64_t count, std::int64_t matrices, const AdamSettings& settings, const StepScalars* scalars,
             const double* squares, Full* masters, const Full* gradients, Full* first, Full* second, Half* weights) {
    launch::adamw(stream_, count, matrices, settings, scalars, squares, masters, gradients, first, second, weights);
  }

 private:
  class Stream {
   public:
    Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream"); }
    ~Stream() { cudaStreamDestroy(stream_); }  // a destructor: nothing to do about an error
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return stream_; }

   private:
    cudaStream_t stream_ = nullptr;
  };

  void* allocate_bytes(std::size_t bytes);
  void copy(const void* from, std::size_t bytes, void* to, cudaMemcpyKind kind);
  void begin_recording();
  void end_recording();

  Stream stream_;
  Gemm gemm_;
  E88Kernel forward_, backward_;
  std::vector<void*> memory_;
  float* partials_;
  double* sums_;
  Half *zero_state_, *state_;  // what arrives at the ends of a sequence, and what leaves them, which nobody reads
  bool records_, is_warm_ = false;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace byte_lm
