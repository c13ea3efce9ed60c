// check/operations.h - every operation of a backend with drawn operands, and one step of a whole small model.
#pragma once

#include <vector>

#include "check/operands.h"
#include "data/batches.h"
#include "model/model.h"
#include "training/upload.h"

namespace byte_lm {

// Odd where it may be: rows beyond the blocks that share sums, a last group of eight in the middle of a block.
constexpr ModelSize kCheckedSize = {.dim = 104, .depth = 2, .heads = 5, .state = 32};
constexpr StepShape kCheckedShape = {.batch = 3, .length = 100};

template <class Backend>
class Operations {
 public:
  using Half = typename Backend::Half;
  using Full = typename Backend::Full;

  explicit Operations(Backend& backend) : backend_(backend) {}

  std::vector<NamedValues> all() {
    std::vector<NamedValues> results;
    for (const auto& part : {embedding(), add_norm(), norm_backward(), activate(false), activate(true),
                             activate_backward(), decay(), cross_entropy(), recurrence(), optimizer()}) {
      results.insert(results.end(), part.begin(), part.end());
    }
    return results;
  }

 private:
  static constexpr std::int64_t kRows = kCheckedShape.rows(), kDim = kCheckedSize.dim, kHeads = kCheckedSize.heads;
  static constexpr std::int64_t kWidth = kCheckedSize.key_width(), kAlpha = kCheckedSize.alpha_width();

  // Random bytes; every seventh target is not scored.
  Batch batch() const {
    const Random random(3, "tokens");
    Batch batch;
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto at = static_cast<std::uint64_t>(row);
      batch.tokens.push_back(static_cast<std::int32_t>(random.bits(at) % 5 * 50));  // some bytes often, most never
      batch.targets.push_back(row % 7 == 0 ? kNotScored : static_cast<std::int32_t>(random.bits(at) >> 56));
      batch.scored += row % 7 == 0 ? 0 : 1;
    }
    return batch;
  }

  std::vector<NamedValues> embedding() {
    Operands<Backend> o(backend_, "embedding");
    const auto tokens = batch();
    const auto [order, starts] = tokens.by_token();
    Full* d_embedding = o.keep("gradient", kVocabulary * kDim, o.full(kVocabulary * kDim));
    backend_.embed(kRows, kDim, o.put(tokens.tokens), o.half(kVocabulary * kDim),
                   o.template result<Full>("rows", kRows * kDim));
    backend_.embedding_gradient(kRows, kDim, o.put(order), o.put(starts), o.full(kRows * kDim), d_embedding);
    return o.results();
  }

  std::vector<NamedValues> add_norm() {
    Operands<Backend> o(backend_, "add_norm");
    backend_.add_norm(kRows, kDim, o.half(kRows * kDim), o.full(kRows * kDim, 3),
                      o.template result<Full>("after", kRows * kDim), o.full(kDim, 0.5, 1),
                      o.template result<Half>("normed", kRows * kDim), o.template result<Full>("inverse_rms", kRows));
    return o.results();
  }

  std::vector<NamedValues> norm_backward() {
    Operands<Backend> o(backend_, "norm_backward");
    for (const bool is_first : {true, false}) {
      const std::string name = is_first ? "first " : "";
      backend_.norm_backward(kRows, kDim,
                             {.d_normed = o.full(kRows * kDim),
                              .residual = o.full(kRows * kDim, 3),
                              .inverse_rms = o.full(kRows, 0.1, 0.4),
                              .weight = o.full(kDim, 0.5, 1),
                              .d_residual = o.keep(name + "d_residual", kRows * kDim, o.full(kRows * kDim)),
                              .d_x = o.template result<Half>(name + "d_x", kRows * kDim),
                              .d_weight = o.template result<Full>(name + "d_weight", kDim),
                              .is_first = is_first});
    }
    return o.results();
  }

  // As one GEMM leaves q, k, v, gate and alpha, or as three.
  Projection<Half> projection(bool fused, Half* data) const {
    const std::int64_t all = kCheckedSize.projection_width();
    return fused
               ? Projection<Half>{.qkv = {data, all}, .gate = {data + 3 * kWidth, all}, .alpha = {}}
               : Projection<Half>{.qkv = {data, 3 * kWidth}, .gate = {data + kRows * 3 * kWidth, kWidth}, .alpha = {}};
  }

  std::vector<NamedValues> activate(bool fused) {
    Operands<Backend> o(backend_, fused ? "activate fused" : "activate");
    const Projection<Half> p = projection(fused, o.half(kRows * kCheckedSize.projection_width(), 2));
    Half* gate = fused ? o.template result<Half>("gate", kRows * kWidth) : p.gate.data;
    backend_.activate(kRows, kWidth, p, o.template result<Half>("q", kRows * kWidth),
                      o.template result<Half>("k", kRows * kWidth), o.template result<Half>("v", kRows * kWidth), gate);
    return o.results();
  }

  std::vector<NamedValues> activate_backward() {
    Operands<Backend> o(backend_, "activate_backward");
    const std::int64_t all = kRows * kCheckedSize.projection_width();
    const Projection<Half> p = projection(true, o.half(all, 2));
    const Projection<Half> d = projection(true, o.template result<Half>("d_projection", all));
    const auto gradient = [&] { return o.half(kRows * kWidth); };
    const Half *dq = gradient(), *dk = gradient(), *dv = gradient(), *d_gate = gradient();
    backend_.activate_backward(kRows, kWidth, p, dq, dk, dv, d_gate, d);
    return o.results();
  }

  std::vector<NamedValues> decay() {
    Operands<Backend> o(backend_, "decay");
    const View<Half> alpha = {o.half(kRows * kAlpha, 3), kAlpha};
    const Full *a_log = o.full(kHeads), *dt_bias = o.full(kHeads, 1, -2);
    backend_.decay(kRows, kHeads, alpha, a_log, dt_bias, o.template result<Half>("decay", kRows * kHeads));
    backend_.decay_backward(kRows, kHeads,
                            {.alpha = alpha,
                             .a_log = a_log,
                             .dt_bias = dt_bias,
                             .d_decay = o.half(kRows * kHeads),
                             .d_alpha = {o.template result<Half>("d_alpha", kRows * kAlpha), kAlpha},
                             .d_a_log = o.template result<Full>("d_a_log", kHeads),
                             .d_dt_bias = o.template result<Full>("d_dt_bias", kHeads)});
    return o.results();
  }

  std::vector<NamedValues> cross_entropy() {
    Operands<Backend> o(backend_, "cross_entropy");
    const Batch targets = batch();
    Full* losses = o.template result<Full>("losses", kRows);
    backend_.cross_entropy(kRows, o.full(kRows * kVocabulary, 4), o.put(targets.targets),
                           o.put(std::vector<StepScalars>{{.inverse_scored = 1.0 / double(targets.scored)}}), losses,
                           o.template result<Half>("d_logits", kRows * kVocabulary));
    backend_.sum(kRows, losses, o.template result<double>("sum", 1));
    return o.results();
  }

  std::vector<NamedValues> recurrence() {
    Operands<Backend> o(backend_, "e88");
    const std::int64_t count = kRows * kWidth;
    const Recurrence extents = {kCheckedShape.batch, kCheckedShape.length, kHeads, kCheckedSize.state};
    const ForwardTensors<Half> t = {
        .k = o.half(count),
        .q = o.half(count),
        .v = o.half(count, 0.6),
        .gate = o.half(count),
        .decay = o.half(kRows * kHeads, 0.05, 0.9),
        .output = o.template result<Half>("output", count),
        .checkpoints = o.template result<Half>(
            "checkpoints", kCheckedShape.segments() * kCheckedShape.batch * kWidth * kCheckedSize.state),
        .y_cache = o.template result<Half>("y_cache", count)};
    backend_.e88_forward(extents, t);
    const auto gradient = [&](const char* name) { return o.template result<Half>(name, count); };
    backend_.e88_backward(extents, {.k = t.k,
                                    .q = t.q,
                                    .v = t.v,
                                    .gate = t.gate,
                                    .decay = t.decay,
                                    .d_output = o.half(count),
                                    .checkpoints = t.checkpoints,
                                    .y_cache = t.y_cache,
                                    .dk = gradient("dk"),
                                    .dq = gradient("dq"),
                                    .dv = gradient("dv"),
                                    .d_gate = gradient("d_gate"),
                                    .d_decay = o.template result<Half>("d_decay", kRows * kHeads)});
    return o.results();
  }

  std::vector<NamedValues> optimizer() {
    Operands<Backend> o(backend_, "optimizer");
    constexpr std::int64_t kCount = 4096, kMatrices = 1000;
    const Full* gradients = o.full(kCount);
    double* squares = o.template result<double>("squares", 1);
    const StepScalars scalars = {.rate = 0.01, .correction1 = 0.1, .correction2 = 0.05};
    backend_.sum_squares(kCount, gradients, squares);
    std::vector<Full> second(kCount, Full(0.25));
    backend_.adamw(kCount, kMatrices, AdamSettings{}, o.put(std::vector<StepScalars>{scalars}), squares,
                   o.keep("masters", kCount, o.full(kCount)), gradients, o.keep("first", kCount, o.full(kCount, 0.1)),
                   o.keep("second", kCount, o.put(second)), o.template result<Half>("weights", kCount));
    return o.results();
  }

  Backend& backend_;
};

// Weights that bf16 can hold and that no formula is trivial for.
inline std::vector<double> checked_masters(const ModelSize& size) {
  const std::vector<float> initial = initial_masters(size, 1);
  std::vector<double> masters(initial.begin(), initial.end());
  for (const Parameter& parameter : Parameters(size).all()) {
    const Random random(2, parameter.name);
    for (std::int64_t i = 0; i < parameter.count(); ++i) {
      double& value = masters[static_cast<std::size_t>(parameter.offset + i)];
      const double moved = value + 0.05 * random.normal(static_cast<std::uint64_t>(i));
      value = static_cast<double>(Bf16::half(static_cast<float>(moved)));
    }
  }
  return masters;
}

// The loss and the gradient of every parameter in one step.
template <class Backend>
std::vector<NamedValues> step_results(Backend& backend, const ModelSize& size, const StepShape& shape, bool fused,
                                      const Batch& batch) {
  using Full = typename Backend::Full;
  Model<Backend> model(backend, size, shape, fused);
  const std::int64_t count = model.parameters().elements;
  std::vector<Full> masters;
  for (const double value : checked_masters(size)) {
    masters.push_back(static_cast<Full>(value));
  }
  backend.upload(masters.data(), count, model.masters());
  backend.round_weights(count, model.masters(), model.weights());
  const auto scored = static_cast<double>(batch.scored);
  upload(backend, batch, {.inverse_scored = 1 / scored}, model.inputs());
  model.forward();
  model.backward();

  std::vector<NamedValues> results(1, {.name = "loss", .values = {0}});
  backend.download(model.loss_sum(), 1, results[0].values.data());
  std::vector<Full> gradients(static_cast<std::size_t>(count));
  backend.download(model.gradients(), count, gradients.data());
  for (const Parameter& parameter : model.parameters().all()) {
    const auto begin = gradients.begin() + parameter.offset;
    results.push_back({.name = parameter.name, .values = {begin, begin + parameter.count()}});
  }
  return results;
}

}  // namespace byte_lm
