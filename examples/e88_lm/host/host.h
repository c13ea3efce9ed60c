// host/host.h - the operations of the model on the CPU, in one type: fp64 to check gradients with, fp32 to train small
// models, fp32 with activations rounded to bf16 to know what an honest implementation on a GPU loses.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "host/matrices.h"
#include "host/recurrence.h"
#include "host/rounding.h"
#include "kernels/formulas.h"
#include "model/views.h"

namespace byte_lm {

template <class Real, class Rounding = Exact>
class Host {
 public:
  using Half = Real;
  using Full = Real;
  // Names a part of a step for profilers of the GPU; here it is nothing, but an object with a lifetime all the same.
  struct Range {
    ~Range() {}
  };

  Range range(const char*) const { return {}; }

  // Zeroed; lives as long as the backend.
  template <class Type>
  Type* allocate(std::int64_t count) {
    memory_.push_back(std::make_unique<std::byte[]>(static_cast<std::size_t>(count) * sizeof(Type)));
    return reinterpret_cast<Type*>(memory_.back().get());
  }
  template <class Type>
  void upload(const Type* from, std::int64_t count, Type* to) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(Type));
  }
  template <class Type>
  void download(const Type* from, std::int64_t count, Type* to) {
    upload(from, count, to);
  }
  // A GPU records a step once and replays it.
  template <class Work>
  void repeat(const Work& work) {
    work();
  }

  void round_weights(std::int64_t count, const Full* masters, Half* weights) {
    for (std::int64_t i = 0; i < count; ++i) {
      weights[i] = Rounding::half(masters[i]);
    }
  }

  void embed(std::int64_t rows, std::int64_t dim, const std::int32_t* tokens, const Half* embedding, Full* residual) {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(embedding + tokens[row] * dim, dim, residual + row * dim);
    }
  }

  // after = before + x where x is given, else `after` holds the sum; normed = after / rms(after) * weight.
  void add_norm(std::int64_t rows, std::int64_t dim, const Half* x, const Full* before, Full* after, const Full* weight,
                Half* normed, Full* inverse_rms) {
    for (std::int64_t row = 0; row < rows; ++row) {
      Full* sum = after + row * dim;
      for (std::int64_t i = 0; x != nullptr && i < dim; ++i) {
        sum[i] = before[row * dim + i] + x[row * dim + i];
      }
      inverse_rms[row] = Real(1) / std::sqrt(dot(sum, sum, dim) / Real(dim) + Real(kNormEpsilon));
      for (std::int64_t i = 0; i < dim; ++i) {
        normed[row * dim + i] = Rounding::half(sum[i] * inverse_rms[row] * weight[i]);
      }
    }
  }

  void norm_backward(std::int64_t rows, std::int64_t dim, const NormGradient<Half, Full>& g) {
    std::fill_n(g.d_weight, dim, Real(0));
    for (std::int64_t row = 0; row < rows; ++row) {
      const Full scale = g.inverse_rms[row];
      Real along = 0;
      for (std::int64_t i = 0; i < dim; ++i) {
        const Real arriving = g.d_normed[row * dim + i], unit = g.residual[row * dim + i] * scale;
        along += arriving * g.weight[i] * unit;
        g.d_weight[i] += arriving * unit;
      }
      for (std::int64_t i = 0; i < dim; ++i) {
        const std::int64_t at = row * dim + i;
        const Real through = scale * (g.d_normed[at] * g.weight[i] - g.residual[at] * scale * along / Real(dim));
        g.d_residual[at] = (g.is_first ? Real(0) : g.d_residual[at]) + through;
        g.d_x[at] = Rounding::half(g.d_residual[at]);
      }
    }
  }

  void linear(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, const Half* x, const Half* w,
              View<Half> y) {
    byte_lm::linear<Rounding>(rows, outputs, inputs, x, w, y);
  }
  void linear_full(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, const Half* x, const Half* w,
                   Full* y) {
    byte_lm::linear<Exact>(rows, outputs, inputs, x, w, View<Full>{y, outputs});
  }
  void linear_input_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const Half> dy,
                             const Half* w, Half* dx) {
    byte_lm::linear_input_gradient<Rounding>(rows, outputs, inputs, dy, w, dx, false);
  }
  void linear_input_gradient_full(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const Half> dy,
                                  const Half* w, Full* dx, bool adds) {
    byte_lm::linear_input_gradient<Exact>(rows, outputs, inputs, dy, w, dx, adds);
  }
  void linear_weight_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const Half> dy,
                              const Half* x, Full* dw) {
    byte_lm::linear_weight_gradient(rows, outputs, inputs, dy, x, dw);
  }

  // q, k and v are silu() of their parts of `p`; the gate is copied to `gate` unless it stands there already.
  void activate(std::int64_t rows, std::int64_t width, const Projection<Half>& p, Half* q, Half* k, Half* v,
                Half* gate) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const Half* from = p.qkv.data + row * p.qkv.stride;
      for (std::int64_t i = 0; i < width; ++i) {
        q[row * width + i] = Rounding::half(silu(from[i]));
        k[row * width + i] = Rounding::half(silu(from[width + i]));
        v[row * width + i] = Rounding::half(silu(from[2 * width + i]));
        gate[row * width + i] = p.gate.data[row * p.gate.stride + i];
      }
    }
  }

  void activate_backward(std::int64_t rows, std::int64_t width, const Projection<Half>& p, const Half* dq,
                         const Half* dk, const Half* dv, const Half* d_gate, const Projection<Half>& d) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const Half* from = p.qkv.data + row * p.qkv.stride;
      Half* to = d.qkv.data + row * d.qkv.stride;
      for (std::int64_t i = 0; i < width; ++i) {
        to[i] = Rounding::half(silu_gradient(from[i], dq[row * width + i]));
        to[width + i] = Rounding::half(silu_gradient(from[width + i], dk[row * width + i]));
        to[2 * width + i] = Rounding::half(silu_gradient(from[2 * width + i], dv[row * width + i]));
        d.gate.data[row * d.gate.stride + i] = d_gate[row * width + i];
      }
    }
  }

  void decay(std::int64_t rows, std::int64_t heads, View<const Half> alpha, const Full* a_log, const Full* dt_bias,
             Half* decay) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t head = 0; head < heads; ++head) {
        const Decay<Real> of(alpha.data[row * alpha.stride + head], a_log[head], dt_bias[head]);
        decay[row * heads + head] = Rounding::half(of.value);
      }
    }
  }

  void decay_backward(std::int64_t rows, std::int64_t heads, const DecayGradient<Half, Full>& g) {
    std::fill_n(g.d_a_log, heads, Real(0));
    std::fill_n(g.d_dt_bias, heads, Real(0));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t head = 0; head < heads; ++head) {
        const Decay<Real> of(g.alpha.data[row * g.alpha.stride + head], g.a_log[head], g.dt_bias[head]);
        const Real arriving = g.d_decay[row * heads + head];
        g.d_alpha.data[row * g.d_alpha.stride + head] = Rounding::half(of.alpha_gradient(arriving));
        g.d_dt_bias[head] += of.alpha_gradient(arriving);
        g.d_a_log[head] += of.a_log_gradient(arriving);
      }
    }
  }

  void e88_forward(const Recurrence& extents, const ForwardTensors<Half>& tensors) {
    for (std::int64_t unit = 0; unit < extents.batch * extents.heads; ++unit) {
      HeadRecurrence<Rounding, Real>(extents, unit).forward(tensors);
    }
  }
  void e88_backward(const Recurrence& extents, const BackwardTensors<Half>& tensors) {
    for (std::int64_t unit = 0; unit < extents.batch * extents.heads; ++unit) {
      HeadRecurrence<Rounding, Real>(extents, unit).backward(tensors);
    }
  }

  // Of logits [rows, 256]: the loss of each row in nats, 0 where its target is not scored, and the gradient of the
  // mean.
  void cross_entropy(std::int64_t rows, const Full* logits, const std::int32_t* targets, const StepScalars* scalars,
                     Full* losses, Half* d_logits) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const Full* x = logits + row * kVocabulary;
      const Real largest = *std::max_element(x, x + kVocabulary);
      Real sum = 0;
      for (std::int64_t i = 0; i < kVocabulary; ++i) {
        sum += std::exp(x[i] - largest);
      }
      const bool scored = targets[row] >= 0;
      const Real factor = scored ? Real(scalars->inverse_scored) : Real(0);
      losses[row] = scored ? std::log(sum) + largest - x[targets[row]] : Real(0);
      for (std::int64_t i = 0; i < kVocabulary; ++i) {
        const Real hit = i == targets[row] ? Real(1) : Real(0);
        d_logits[row * kVocabulary + i] = Rounding::half(factor * (std::exp(x[i] - largest) / sum - hit));
      }
    }
  }

  // Adds d_residual's rows to those of their bytes: `order` has the rows sorted by byte, those of byte b from
  // starts[b].
  void embedding_gradient(std::int64_t, std::int64_t dim, const std::int32_t* order, const std::int32_t* starts,
                          const Full* d_residual, Full* d_embedding) {
    for (std::int64_t byte = 0; byte < kVocabulary; ++byte) {
      for (std::int32_t place = starts[byte]; place < starts[byte + 1]; ++place) {
        add_scaled(d_residual + order[place] * dim, Real(1), dim, d_embedding + byte * dim);
      }
    }
  }

  void sum(std::int64_t count, const Full* values, double* total) {
    *total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      *total += static_cast<double>(values[i]);
    }
  }
  void sum_squares(std::int64_t count, const Full* values, double* total) {
    *total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      *total += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
  }

  // The elements before `matrices` decay.
  void adamw(std::int64_t count, std::int64_t matrices, const AdamSettings& settings, const StepScalars* scalars,
             const double* squares, Full* masters, const Full* gradients, Full* first, Full* second, Half* weights) {
    const Real factor = Real(clip_factor(settings, *squares));
    for (std::int64_t i = 0; i < count; ++i) {
      byte_lm::adamw(settings, *scalars, gradients[i] * factor, i < matrices, masters[i], first[i], second[i]);
      weights[i] = Rounding::half(masters[i]);
    }
  }

 private:
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

}  // namespace byte_lm
