// host/recurrence.h - the E88 recurrence of one head of one sequence and its gradient, by the contracts of the families
// e88_forward and e88_backward: checkpoints, y_cache and outputs are rounded, the rest is not.
//
//   k^ = k rsqrt(sum k^2 + 1e-12), q^ likewise
//   delta_j = v_j - sum_i S_{t-1}[i,j] k^_i
//   S_t[i,j] = tanh(a_t S_{t-1}[i,j] + k^_i delta_j)
//   y_j = sum_i S_t[i,j] q^_i, output_j = y_j silu(g_j)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "host/matrices.h"
#include "kernels/formulas.h"
#include "model/views.h"

namespace byte_lm {

// Row `t` of a [batch, length, heads, width] tensor for one (batch, head).
struct HeadRows {
  std::int64_t first, stride;

  HeadRows(const Recurrence& r, std::int64_t unit, std::int64_t width)
      : first((unit / r.heads * r.length * r.heads + unit % r.heads) * width), stride(r.heads * width) {}
  std::int64_t at(std::int64_t t) const { return first + t * stride; }
};

template <class Rounding, class Real>
class HeadRecurrence {
 public:
  HeadRecurrence(const Recurrence& extents, std::int64_t unit)
      : r_(extents),
        unit_(unit),
        rows_(extents, unit, extents.state),
        steps_(extents, unit, 1),
        k_hat_(count(r_.state)),
        q_hat_(count(r_.state)),
        delta_(count(r_.state)) {}

  void forward(const ForwardTensors<Real>& tensors) {
    std::vector<Real> state(count(r_.state * r_.state));
    for (std::int64_t t = 0; t < r_.length; ++t) {
      if (t % kSegment == 0) {
        std::transform(state.begin(), state.end(), tensors.checkpoints + checkpoint(t), rounded);
      }
      advance(tensors, t, state);
      normalise(tensors.q + rows_.at(t), q_hat_);
      for (std::int64_t j = 0; j < r_.state; ++j) {
        const std::int64_t at = rows_.at(t) + j;
        const Real y = column_sum(state, q_hat_, j);
        tensors.y_cache[at] = Rounding::half(y);
        tensors.output[at] = Rounding::half(y * silu(tensors.gate[at]));
      }
    }
  }

  void backward(const BackwardTensors<Real>& tensors) {
    std::vector<Real> carry(count(r_.state * r_.state));
    for (std::int64_t first = (r_.length - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
      const std::int64_t last = std::min(first + kSegment, r_.length) - 1;
      replay(tensors, first, last);
      for (std::int64_t t = last; t >= first; --t) {
        step_back(tensors, t, history_[count(t - first)], history_[count(t - first + 1)], carry);
      }
    }
  }

 private:
  static Real rounded(Real value) { return Rounding::half(value); }
  static std::size_t count(std::int64_t value) { return static_cast<std::size_t>(value); }
  std::int64_t checkpoint(std::int64_t t) const {
    return (t / kSegment * r_.batch * r_.heads + unit_) * r_.state * r_.state;
  }

  Real normalise(const Real* x, std::vector<Real>& x_hat) const {
    const Real factor = Real(1) / std::sqrt(dot(x, x, r_.state) + Real(kKeyEpsilon));
    for (std::int64_t i = 0; i < r_.state; ++i) {
      x_hat[count(i)] = x[i] * factor;
    }
    return factor;
  }

  Real column_sum(const std::vector<Real>& state, const std::vector<Real>& weights, std::int64_t j) const {
    Real sum = 0;
    for (std::int64_t i = 0; i < r_.state; ++i) {
      sum += state[count(i * r_.state + j)] * weights[count(i)];
    }
    return sum;
  }

  // Turns S_{t-1} into S_t; leaves k^ and delta.
  template <class Tensors>
  void advance(const Tensors& tensors, std::int64_t t, std::vector<Real>& state) {
    normalise(tensors.k + rows_.at(t), k_hat_);
    const Real decay = tensors.decay[steps_.at(t)];
    for (std::int64_t j = 0; j < r_.state; ++j) {
      delta_[count(j)] = tensors.v[rows_.at(t) + j] - column_sum(state, k_hat_, j);
    }
    for (std::int64_t i = 0; i < r_.state; ++i) {
      for (std::int64_t j = 0; j < r_.state; ++j) {
        Real& s = state[count(i * r_.state + j)];
        s = std::tanh(decay * s + k_hat_[count(i)] * delta_[count(j)]);
      }
    }
  }

  void replay(const BackwardTensors<Real>& tensors, std::int64_t first, std::int64_t last) {
    const Real* kept = tensors.checkpoints + checkpoint(first);
    history_.assign(1, std::vector<Real>(kept, kept + r_.state * r_.state));
    for (std::int64_t t = first; t <= last; ++t) {
      history_.push_back(history_.back());
      advance(tensors, t, history_.back());
    }
  }

  // Turns dL/dS_t into dL/dS_{t-1} and writes the gradients of step t.
  void step_back(const BackwardTensors<Real>& tensors, std::int64_t t, const std::vector<Real>& before,
                 const std::vector<Real>& after, std::vector<Real>& carry) {
    const std::int64_t n = r_.state, row = rows_.at(t);
    const Real k_factor = normalise(tensors.k + row, k_hat_), q_factor = normalise(tensors.q + row, q_hat_);
    const Real decay = tensors.decay[steps_.at(t)];
    std::vector<Real> dy(count(n)), d_delta(count(n)), dk(count(n)), dq(count(n));
    for (std::int64_t j = 0; j < n; ++j) {
      delta_[count(j)] = tensors.v[row + j] - column_sum(before, k_hat_, j);
      const Real arriving = tensors.d_output[row + j], gate = tensors.gate[row + j];
      dy[count(j)] = arriving * silu(gate);
      tensors.d_gate[row + j] = Rounding::half(silu_gradient(gate, arriving * tensors.y_cache[row + j]));
    }
    Real d_decay = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const std::size_t at = count(i * n + j);
        dq[count(i)] += after[at] * dy[count(j)];
        carry[at] = (carry[at] + q_hat_[count(i)] * dy[count(j)]) * (Real(1) - after[at] * after[at]);
        d_delta[count(j)] += carry[at] * k_hat_[count(i)];
        d_decay += carry[at] * before[at];
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const std::size_t at = count(i * n + j);
        dk[count(i)] += carry[at] * delta_[count(j)] - before[at] * d_delta[count(j)];
        carry[at] = decay * carry[at] - k_hat_[count(i)] * d_delta[count(j)];
      }
    }
    tensors.d_decay[steps_.at(t)] = Rounding::half(d_decay);
    std::transform(d_delta.begin(), d_delta.end(), tensors.dv + row, rounded);
    through_norm(k_hat_, k_factor, dk, tensors.dk + row);
    through_norm(q_hat_, q_factor, dq, tensors.dq + row);
  }

  // dx = (dx^ - x^ (x^ . dx^)) factor
  void through_norm(const std::vector<Real>& x_hat, Real factor, const std::vector<Real>& gradient, Real* dx) const {
    const Real along = dot(x_hat.data(), gradient.data(), r_.state);
    for (std::int64_t i = 0; i < r_.state; ++i) {
      dx[i] = Rounding::half((gradient[count(i)] - x_hat[count(i)] * along) * factor);
    }
  }

  Recurrence r_;
  std::int64_t unit_;
  HeadRows rows_, steps_;
  std::vector<Real> k_hat_, q_hat_, delta_;
  std::vector<std::vector<Real>> history_;  // the states before each step of a segment, and after its last
};

}  // namespace byte_lm
