// model/model.h - the E88 language model: its forward and backward pass as calls of a backend, host/host.h or
// cuda/cuda.h. Read forward() for what the model is.
//
// Embedding, tied with the output; each layer: residual += x; RMSNorm; q, k, v, gate and alpha by GEMMs; SiLU of q, k
// and v; decay from alpha; the E88 recurrence with its gate; a GEMM back to x. The end: RMSNorm, logits, cross-entropy.
#pragma once

#include <vector>

#include "kernels/formulas.h"
#include "model/parameters.h"
#include "model/views.h"

namespace byte_lm {

// A step's bytes and numbers where the backend computes.
struct StepInputs {
  std::int32_t* tokens;   // [rows]
  std::int32_t* targets;  // [rows]; -1: not scored
  std::int32_t* order;    // [rows], sorted by token
  std::int32_t* starts;   // [257]: where each byte's rows begin in `order`
  StepScalars* scalars;
};

template <class Backend>
class Model {
 public:
  using Half = typename Backend::Half;
  using Full = typename Backend::Full;

  // `fused`: one GEMM for q, k, v, gate and alpha in place of three.
  Model(Backend& backend, const ModelSize& size, const StepShape& shape, bool fused)
      : backend_(backend), size_(size), shape_(shape), fused_(fused), parameters_(size) {
    allocate_parameters();
    allocate_inputs();
    allocate_activations();
    allocate_gradients();
  }

  const Parameters& parameters() const { return parameters_; }
  const StepInputs& inputs() const { return inputs_; }
  Full* masters() { return masters_; }
  Full* gradients() { return gradients_; }
  Half* weights() { return weights_; }
  const double* loss_sum() const { return loss_sum_; }  // of the scored bytes, in nats

  void forward() {
    const auto range = backend_.range("forward");
    const std::int64_t rows = shape_.rows();
    {
      const auto part = backend_.range("embedding");
      backend_.embed(rows, size_.dim, inputs_.tokens, weight(parameters_.embedding), residuals_[0]);
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      forward_layer(i);
    }
    normalise(layers_.size(), parameters_.final_norm, final_normed_, final_inverse_rms_);
    const auto part = backend_.range("loss");
    backend_.linear_full(rows, kVocabulary, size_.dim, final_normed_, weight(parameters_.embedding), logits_);
    backend_.cross_entropy(rows, logits_, inputs_.targets, inputs_.scalars, losses_, d_logits_);
    backend_.sum(rows, losses_, loss_sum_);
  }

  // After forward(): the gradient of the mean loss in every parameter.
  void backward() {
    const auto range = backend_.range("backward");
    const std::int64_t rows = shape_.rows();
    const View<const Half> d_logits = {d_logits_, kVocabulary};
    {
      const auto part = backend_.range("loss");
      backend_.linear_input_gradient_full(rows, kVocabulary, size_.dim, d_logits, weight(parameters_.embedding),
                                          d_normed_, false);
      backend_.linear_weight_gradient(rows, kVocabulary, size_.dim, d_logits, final_normed_,
                                      gradient(parameters_.embedding));
    }
    normalise_backward(layers_.size(), parameters_.final_norm, final_inverse_rms_);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      backward_layer(i);
    }
    const auto part = backend_.range("embedding");
    backend_.embedding_gradient(rows, size_.dim, inputs_.order, inputs_.starts, d_residual_,
                                gradient(parameters_.embedding));
  }

 private:
  struct Layer {
    Full* inverse_rms;
    Half *normed, *q, *k, *v, *decay, *output, *checkpoints, *y_cache;
    Projection<Half> projection;
    Half* gate;  // without gaps, as the E88 kernels read it
    Half* x;     // the layer's result
  };

  const Half* weight(const Parameter& parameter) const { return weights_ + parameter.offset; }
  const Full* master(const Parameter& parameter) const { return masters_ + parameter.offset; }
  Full* gradient(const Parameter& parameter) const { return gradients_ + parameter.offset; }
  Recurrence recurrence() const { return {shape_.batch, shape_.length, size_.heads, size_.state}; }

  // ---------------------------------------------------------------- memory

  template <class Type>
  Type* per_row(std::int64_t width) {
    return backend_.template allocate<Type>(shape_.rows() * width);
  }

  void allocate_parameters() {
    masters_ = backend_.template allocate<Full>(parameters_.elements);
    gradients_ = backend_.template allocate<Full>(parameters_.elements);
    weights_ = backend_.template allocate<Half>(parameters_.elements);
  }

  void allocate_inputs() {
    inputs_ = {.tokens = per_row<std::int32_t>(1),
               .targets = per_row<std::int32_t>(1),
               .order = per_row<std::int32_t>(1),
               .starts = backend_.template allocate<std::int32_t>(kVocabulary + 1),
               .scalars = backend_.template allocate<StepScalars>(1)};
  }

  Projection<Half> allocate_projection() {
    const std::int64_t width = size_.key_width(), all = size_.projection_width(), alpha = size_.alpha_width();
    if (fused_) {
      Half* data = per_row<Half>(all);
      return {.qkv = {data, all}, .gate = {data + 3 * width, all}, .alpha = {data + 4 * width, all}};
    }
    return {.qkv = {per_row<Half>(3 * width), 3 * width},
            .gate = {per_row<Half>(width), width},
            .alpha = {per_row<Half>(alpha), alpha}};
  }

  Layer allocate_layer() {
    const std::int64_t width = size_.key_width();
    const Projection<Half> projection = allocate_projection();
    return {.inverse_rms = per_row<Full>(1),
            .normed = per_row<Half>(size_.dim),
            .q = per_row<Half>(width),
            .k = per_row<Half>(width),
            .v = per_row<Half>(width),
            .decay = per_row<Half>(size_.heads),
            .output = per_row<Half>(width),
            .checkpoints = backend_.template allocate<Half>(shape_.segments() * shape_.batch * width * size_.state),
            .y_cache = per_row<Half>(width),
            .projection = projection,
            .gate = fused_ ? per_row<Half>(width) : projection.gate.data,
            .x = per_row<Half>(size_.dim)};
  }

  void allocate_activations() {
    for (std::size_t i = 0; i < parameters_.layers.size(); ++i) {
      layers_.push_back(allocate_layer());
      residuals_.push_back(per_row<Full>(size_.dim));
    }
    residuals_.push_back(per_row<Full>(size_.dim));
    final_normed_ = per_row<Half>(size_.dim);
    final_inverse_rms_ = per_row<Full>(1);
    logits_ = per_row<Full>(kVocabulary);
    losses_ = per_row<Full>(1);
    loss_sum_ = backend_.template allocate<double>(1);
  }

  void allocate_gradients() {
    const std::int64_t width = size_.key_width();
    d_logits_ = per_row<Half>(kVocabulary);
    d_normed_ = per_row<Full>(size_.dim);
    d_residual_ = per_row<Full>(size_.dim);
    d_x_ = per_row<Half>(size_.dim);
    d_output_ = per_row<Half>(width);
    dq_ = per_row<Half>(width);
    dk_ = per_row<Half>(width);
    dv_ = per_row<Half>(width);
    d_decay_ = per_row<Half>(size_.heads);
    d_projection_ = allocate_projection();  // the padding of alpha stays zero
    d_gate_ = fused_ ? per_row<Half>(width) : d_projection_.gate.data;
  }

  // ---------------------------------------------------------------- a layer, forward

  void forward_layer(std::size_t i) {
    const Layer& layer = layers_[i];
    const LayerParameters& p = parameters_.layers[i];
    normalise(i, p.norm, layer.normed, layer.inverse_rms);
    project(layer, p);
    const std::int64_t rows = shape_.rows(), width = size_.key_width();
    {
      const auto part = backend_.range("activations");
      backend_.activate(rows, width, layer.projection, layer.q, layer.k, layer.v, layer.gate);
      backend_.decay(rows, size_.heads, layer.projection.alpha, master(p.a_log), master(p.dt_bias), layer.decay);
    }
    {
      const auto part = backend_.range("e88");
      backend_.e88_forward(recurrence(), {.k = layer.k,
                                          .q = layer.q,
                                          .v = layer.v,
                                          .gate = layer.gate,
                                          .decay = layer.decay,
                                          .output = layer.output,
                                          .checkpoints = layer.checkpoints,
                                          .y_cache = layer.y_cache});
    }
    const auto part = backend_.range("gemm");
    backend_.linear(rows, size_.dim, width, layer.output, weight(p.output), {layer.x, size_.dim});
  }

  // Takes what layer i-1 left into the residual stream; i may be the number of layers.
  void normalise(std::size_t i, const Parameter& norm, Half* normed, Full* inverse_rms) {
    const auto part = backend_.range("norm");
    const Half* x = i == 0 ? nullptr : layers_[i - 1].x;
    const Full* before = i == 0 ? nullptr : residuals_[i - 1];
    backend_.add_norm(shape_.rows(), size_.dim, x, before, residuals_[i], master(norm), normed, inverse_rms);
  }

  void project(const Layer& layer, const LayerParameters& p) {
    const auto part = backend_.range("gemm");
    const std::int64_t rows = shape_.rows(), width = size_.key_width();
    if (fused_) {
      backend_.linear(rows, size_.projection_width(), size_.dim, layer.normed, weight(p.qkv), layer.projection.qkv);
      return;
    }
    backend_.linear(rows, 3 * width, size_.dim, layer.normed, weight(p.qkv), layer.projection.qkv);
    backend_.linear(rows, width, size_.dim, layer.normed, weight(p.gate), layer.projection.gate);
    backend_.linear(rows, size_.alpha_width(), size_.dim, layer.normed, weight(p.alpha), layer.projection.alpha);
  }

  // ---------------------------------------------------------------- a layer, backward

  void backward_layer(std::size_t i) {
    const Layer& layer = layers_[i];
    const LayerParameters& p = parameters_.layers[i];
    const std::int64_t rows = shape_.rows(), width = size_.key_width();
    {
      const auto part = backend_.range("gemm");
      const View<const Half> d_x = {d_x_, size_.dim};
      backend_.linear_input_gradient(rows, size_.dim, width, d_x, weight(p.output), d_output_);
      backend_.linear_weight_gradient(rows, size_.dim, width, d_x, layer.output, gradient(p.output));
    }
    recurrence_backward(layer);
    {
      const auto part = backend_.range("activations");
      backend_.activate_backward(rows, width, layer.projection, dq_, dk_, dv_, d_gate_, d_projection_);
      backend_.decay_backward(rows, size_.heads,
                              {.alpha = layer.projection.alpha,
                               .a_log = master(p.a_log),
                               .dt_bias = master(p.dt_bias),
                               .d_decay = d_decay_,
                               .d_alpha = d_projection_.alpha,
                               .d_a_log = gradient(p.a_log),
                               .d_dt_bias = gradient(p.dt_bias)});
    }
    project_backward(layer, p);
    normalise_backward(i, p.norm, layer.inverse_rms);
  }

  void recurrence_backward(const Layer& layer) {
    const auto part = backend_.range("e88");
    backend_.e88_backward(recurrence(), {.k = layer.k,
                                         .q = layer.q,
                                         .v = layer.v,
                                         .gate = layer.gate,
                                         .decay = layer.decay,
                                         .d_output = d_output_,
                                         .checkpoints = layer.checkpoints,
                                         .y_cache = layer.y_cache,
                                         .dk = dk_,
                                         .dq = dq_,
                                         .dv = dv_,
                                         .d_gate = d_gate_,
                                         .d_decay = d_decay_});
  }

  void project_backward(const Layer& layer, const LayerParameters& p) {
    const auto part = backend_.range("gemm");
    const std::int64_t width = size_.key_width();
    if (fused_) {
      return through(layer, size_.projection_width(), d_projection_.qkv, p.qkv, false);
    }
    through(layer, 3 * width, d_projection_.qkv, p.qkv, false);
    through(layer, width, d_projection_.gate, p.gate, true);
    through(layer, size_.alpha_width(), d_projection_.alpha, p.alpha, true);
  }

  void through(const Layer& layer, std::int64_t outputs, View<const Half> dy, const Parameter& p, bool adds) {
    backend_.linear_input_gradient_full(shape_.rows(), outputs, size_.dim, dy, weight(p), d_normed_, adds);
    backend_.linear_weight_gradient(shape_.rows(), outputs, size_.dim, dy, layer.normed, gradient(p));
  }

  void normalise_backward(std::size_t i, const Parameter& norm, const Full* inverse_rms) {
    const auto part = backend_.range("norm");
    backend_.norm_backward(shape_.rows(), size_.dim,
                           {.d_normed = d_normed_,
                            .residual = residuals_[i],
                            .inverse_rms = inverse_rms,
                            .weight = master(norm),
                            .d_residual = d_residual_,
                            .d_x = d_x_,
                            .d_weight = gradient(norm),
                            .is_first = i == layers_.size()});
  }

  Backend& backend_;
  ModelSize size_;
  StepShape shape_;
  bool fused_;
  Parameters parameters_;
  StepInputs inputs_;
  Full *masters_, *gradients_;
  Half* weights_;
  std::vector<Layer> layers_;
  std::vector<Full*> residuals_;  // before each layer, and after the last
  Half* final_normed_;
  Full *final_inverse_rms_, *logits_, *losses_;
  double* loss_sum_;
  Full *d_normed_, *d_residual_;
  Half *d_logits_, *d_x_, *d_output_, *dq_, *dk_, *dv_, *d_decay_, *d_gate_;
  Projection<Half> d_projection_;
};

}  // namespace byte_lm
