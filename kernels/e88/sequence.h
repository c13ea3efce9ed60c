// kernels/e88/sequence.h - the recurrence of one (b,h) sequence and its gradient, in the reference's arithmetic and in
// the contract's own.
//
// `Exact` is fp64 throughout. `Honest` is the contract: fp32 arithmetic and state; checkpoints, y_cache and outputs
// rounded to bf16; the backward starts each segment of 16 steps from its bf16 checkpoint and keeps S_{t-1} and k^ of
// the replayed steps in bf16. `Perturbed` is Honest with the errors that the contract allows drawn at random; its
// spread is the yardstick of the tolerance. Loops run over j innermost, so that they vectorise.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/e88/shape.h"
#include "kernels/rounding.h"

namespace apo::e88 {

// On a CPU that has AVX2 with its wide vectors: the same results in less time.
#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(__clang__)  // which has none of templates
#define APO_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define APO_WIDE
#endif

// A rational approximation to a few fp32 ulp (the coefficients are those of Eigen's generic tanh), branch-free.
inline float fast_tanh(float value) {
  constexpr float kSaturated = 7.90531110763549805f;
  const float upper = value < kSaturated ? value : kSaturated;
  const float x = upper > -kSaturated ? upper : -kSaturated;
  const float x2 = x * x;
  float p = -2.76076847742355e-16f;
  p = p * x2 + 2.00018790482477e-13f;
  p = p * x2 - 8.60467152213735e-11f;
  p = p * x2 + 5.12229709037114e-08f;
  p = p * x2 + 1.48572235717979e-05f;
  p = p * x2 + 6.37261928875436e-04f;
  p = p * x2 + 4.89352455891786e-03f;
  float q = 1.19825839466702e-06f;
  q = q * x2 + 1.18534705686654e-04f;
  q = q * x2 + 2.26843463243900e-03f;
  q = q * x2 + 4.89352518554385e-03f;
  return x * p / q;
}

struct Exact {
  using Real = double;
  static constexpr bool kRoundsCache = false;
  double tanh(double x) const { return std::tanh(x); }
  double round_cache(double x) const { return x; }
  double reordered(double x) const { return x; }
  bool reads_y_cache() const { return false; }
};

struct Honest {
  using Real = float;
  static constexpr bool kRoundsCache = true;
  float tanh(float x) const { return fast_tanh(x); }
  float round_cache(float x) const { return bf16_to_float(float_to_bf16(x)); }
  float reordered(float x) const { return x; }
  bool reads_y_cache() const { return true; }
};

// tanh is off by its whole allowance, 2^-11 of the value, with a sign that depends on the argument and the
// realisation; the cache is rounded up or down at random with the mean kept; every other realisation recomputes y. A
// term that another may cancel is off by 2^-22, as fp32 arithmetic in another order leaves it: else the bound would be
// zero where this order happens to cancel exactly.
struct Perturbed {
  using Real = float;
  static constexpr bool kRoundsCache = true;
  std::uint32_t realisation = 0;

  std::uint32_t noise(float x) const {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(x) + 0x9e3779b9u * (realisation + 1);
    bits = (bits ^ (bits >> 16)) * 0x85ebca6bu;  // MurmurHash3's finaliser
    bits = (bits ^ (bits >> 13)) * 0xc2b2ae35u;
    return bits ^ (bits >> 16);
  }
  float tanh(float x) const {
    const float error = std::bit_cast<float>(0x3a000000u | (noise(x) & 0x80000000u));  // 2^-11 with a random sign
    const float exact = fast_tanh(x);
    return exact + exact * error;
  }
  float round_cache(float x) const {
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + (noise(x) >> 16)) & 0xffff0000u);
  }
  float reordered(float x) const {
    return x + x * std::bit_cast<float>(0x34800000u | (noise(x) & 0x80000000u));  // 2^-22 with a random sign
  }
  bool reads_y_cache() const { return realisation % 2 == 0; }
};

// A unit's tensors, row by row; the backward ones are empty in the forward.
template <class Real>
struct Sequence {
  std::vector<Real> k, q, v, g, decay, s0;
  std::vector<Real> d_output, d_s_final, checkpoints, y_cache;
};

template <class Real>
struct ForwardResult {
  std::vector<Real> output, checkpoints, y_cache, s_final;
};

template <class Real>
struct BackwardResult {
  std::vector<Real> dk, dq, dv, dg, ddecay, ds0;
};

template <class Real>
Real round_bf16(Real value) {
  return static_cast<Real>(bf16_to_float(float_to_bf16(static_cast<float>(value))));
}

template <class Real>
Real sigmoid(Real x) {
  return Real(1) / (Real(1) + std::exp(-x));
}

// rsqrt(sum x^2 + 1e-12), or 1 where the contract does not normalise.
template <class Real>
Real inverse_norm(const Real* x, std::int64_t count, bool norm) {
  if (!norm) {
    return Real(1);
  }
  Real sum = Real(1e-12);
  for (std::int64_t i = 0; i < count; ++i) {
    sum += x[i] * x[i];
  }
  return Real(1) / std::sqrt(sum);
}

template <class Real>
void scale_to(const Real* x, Real factor, std::int64_t count, Real* scaled) {
  for (std::int64_t i = 0; i < count; ++i) {
    scaled[i] = x[i] * factor;
  }
}

// delta_j = v_j - sum_i S[i,j] k_i
template <class Real>
void retrieve_delta(const Shape& shape, const Real* S, const Real* k, const Real* v, Real* delta) {
  for (std::int64_t j = 0; j < shape.V; ++j) {
    delta[j] = v[j];
  }
  for (std::int64_t i = 0; i < shape.N; ++i) {
    const Real* row = S + i * shape.V;
    const Real ki = k[i];
    for (std::int64_t j = 0; j < shape.V; ++j) {
      delta[j] -= row[j] * ki;
    }
  }
}

// next[i,j] = tanh(a S[i,j] + k_i delta_j); next may be S.
template <class Arithmetic, class Real = typename Arithmetic::Real>
APO_WIDE void update_state(const Arithmetic& arithmetic, const Shape& shape, const Real* S, Real a, const Real* k,
                           const Real* delta, Real* next) {
  for (std::int64_t i = 0; i < shape.N; ++i) {
    const Real* from = S + i * shape.V;
    Real* to = next + i * shape.V;
    const Real ki = k[i];
#pragma GCC ivdep
    for (std::int64_t j = 0; j < shape.V; ++j) {
      to[j] = arithmetic.tanh(a * from[j] + ki * delta[j]);
    }
  }
}

template <class Arithmetic, class Real = typename Arithmetic::Real>
APO_WIDE ForwardResult<Real> forward(const Arithmetic& arithmetic, const Shape& shape, const Sequence<Real>& in) {
  const std::int64_t N = shape.N, V = shape.V;
  ForwardResult<Real> out;
  out.output.resize(in.v.size());
  out.y_cache.resize(in.v.size());
  out.checkpoints.reserve(static_cast<std::size_t>(shape.segments() * shape.state()));
  std::vector<Real> S = in.s0;
  std::vector<Real> k_hat(static_cast<std::size_t>(N)), delta(static_cast<std::size_t>(V));
  for (std::int64_t t = 0; t < shape.T; ++t) {
    if (t % kSegment == 0) {
      out.checkpoints.insert(out.checkpoints.end(), S.begin(), S.end());
    }
    const Real* k = in.k.data() + t * N;
    const Real* q = in.q.data() + t * N;
    scale_to(k, inverse_norm(k, N, shape.norm), N, k_hat.data());
    retrieve_delta(shape, S.data(), k_hat.data(), in.v.data() + t * V, delta.data());
    update_state(arithmetic, shape, S.data(), in.decay[static_cast<std::size_t>(t)], k_hat.data(), delta.data(),
                 S.data());
    Real* y = out.y_cache.data() + t * V;
    const Real q_scale = inverse_norm(q, N, shape.norm);
    for (std::int64_t i = 0; i < N; ++i) {
      const Real q_hat = q[i] * q_scale;
      for (std::int64_t j = 0; j < V; ++j) {
        y[j] += S[static_cast<std::size_t>(i * V + j)] * q_hat;
      }
    }
    for (std::int64_t j = 0; j < V; ++j) {
      const Real g = in.g[static_cast<std::size_t>(t * V + j)];
      out.output[static_cast<std::size_t>(t * V + j)] = shape.gate ? y[j] * g * sigmoid(g) : y[j];
    }
  }
  out.s_final = std::move(S);
  return out;
}

// What the replay of a segment leaves for the reverse steps: S_{t-1} and k^ of each step.
template <class Real>
struct SegmentHistory {
  std::vector<Real> states;  // one more than the steps: the last is the state after the segment
  std::vector<Real> k_hat;
};

template <class Arithmetic, class Real = typename Arithmetic::Real>
APO_WIDE void replay_segment(const Arithmetic& arithmetic, const Shape& shape, const Sequence<Real>& in,
                             std::int64_t segment, SegmentHistory<Real>& history) {
  const std::int64_t N = shape.N, V = shape.V, state = shape.state();
  const std::int64_t begin = segment * kSegment;
  const std::int64_t steps = std::min(kSegment, shape.T - begin);
  history.states.resize(static_cast<std::size_t>((kSegment + 1) * state));
  history.k_hat.resize(static_cast<std::size_t>(kSegment * N));
  std::vector<Real> delta(static_cast<std::size_t>(V));
  std::copy_n(in.checkpoints.data() + segment * state, state, history.states.data());
  for (std::int64_t s = 0; s < steps; ++s) {
    const std::int64_t t = begin + s;
    const Real* k = in.k.data() + t * N;
    Real* k_hat = history.k_hat.data() + s * N;
    Real* S = history.states.data() + s * state;
    scale_to(k, inverse_norm(k, N, shape.norm), N, k_hat);
    retrieve_delta(shape, S, k_hat, in.v.data() + t * V, delta.data());
    update_state(arithmetic, shape, S, in.decay[static_cast<std::size_t>(t)], k_hat, delta.data(), S + state);
  }
  if constexpr (Arithmetic::kRoundsCache) {
    for (Real& value : history.states) {
      value = arithmetic.round_cache(value);
    }
    for (Real& value : history.k_hat) {
      value = arithmetic.round_cache(value);
    }
  }
}

// d_x = (dx^ - x^ (x^ . dx^)) rsqrt(sum x^2 + 1e-12), exact with the epsilon because x^ contains it; dx^ where NORM=0.
template <class Arithmetic, class Real>
void normalise_gradient(const Arithmetic& arithmetic, const Real* x_hat, Real scale, std::int64_t count, bool norm,
                        Real* dx) {
  if (!norm) {
    return;
  }
  Real dot = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    dot += x_hat[i] * dx[i];
  }
  for (std::int64_t i = 0; i < count; ++i) {
    dx[i] = (dx[i] - arithmetic.reordered(x_hat[i] * dot)) * scale;
  }
}

template <class Arithmetic, class Real>
Real dot_rows(const Arithmetic& arithmetic, const Real* a, const Real* b, std::int64_t count) {
  Real lanes[8] = {};
  std::int64_t j = 0;
  for (; j + 8 <= count; j += 8) {
    for (std::int64_t lane = 0; lane < 8; ++lane) {
      lanes[lane] += a[j + lane] * b[j + lane];
    }
  }
  for (Real& lane : lanes) {
    lane = arithmetic.reordered(lane);  // rows of alternating signs cancel from lane to lane
  }
  Real sum = ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
  for (; j < count; ++j) {
    sum += arithmetic.reordered(a[j] * b[j]);
  }
  return sum;
}

// One reverse step: turns the carry D = dL/dS_t into dL/dS_{t-1} and writes the step's gradients.
template <class Arithmetic, class Real = typename Arithmetic::Real>
class ReverseStep {
 public:
  ReverseStep(const Arithmetic& arithmetic, const Shape& shape)
      : arithmetic_(arithmetic),
        shape_(shape),
        dy_(static_cast<std::size_t>(shape.V)),
        delta_(dy_.size()),
        dd_(dy_.size()),
        q_hat_(static_cast<std::size_t>(shape.N)),
        next_(static_cast<std::size_t>(shape.state())) {}

  // `S` is S_{t-1}; `S_next` is S_t where the cache is exact, and is recomputed from S where it is rounded.
  void operator()(const Sequence<Real>& in, std::int64_t t, const Real* S, const Real* S_next, const Real* k_hat,
                  Real* D, BackwardResult<Real>& out) {
    const std::int64_t N = shape_.N, V = shape_.V;
    const Real a = in.decay[static_cast<std::size_t>(t)];
    retrieve_delta(shape_, S, k_hat, in.v.data() + t * V, delta_.data());
    if constexpr (Arithmetic::kRoundsCache) {
      update_state(arithmetic_, shape_, S, a, k_hat, delta_.data(), next_.data());
      S_next = next_.data();
    }
    const Real* q = in.q.data() + t * N;
    const Real q_scale = inverse_norm(q, N, shape_.norm);
    scale_to(q, q_scale, N, q_hat_.data());
    gate_gradient(in, t, S_next, out);

    Real* dq = out.dq.data() + t * N;
    Real* dk = out.dk.data() + t * N;
    std::fill(dd_.begin(), dd_.end(), Real(0));
    Real ddecay = 0;
    for (std::int64_t i = 0; i < N; ++i) {
      Real* row = D + i * V;
      const Real* next = S_next + i * V;
      const Real q_hat = q_hat_[static_cast<std::size_t>(i)];
      const Real ki = k_hat[i];
      dq[i] = dot_rows(arithmetic_, next, dy_.data(), V);
      for (std::int64_t j = 0; j < V; ++j) {
        const auto column = static_cast<std::size_t>(j);
        row[j] = (row[j] + q_hat * dy_[column]) * (Real(1) - next[j] * next[j]);
        dd_[column] += row[j] * ki;
      }
      ddecay += dot_rows(arithmetic_, row, S + i * V, V);
    }
    for (std::int64_t i = 0; i < N; ++i) {
      Real* row = D + i * V;
      const Real ki = k_hat[i];
      dk[i] = dot_rows(arithmetic_, row, delta_.data(), V) -
              arithmetic_.reordered(dot_rows(arithmetic_, S + i * V, dd_.data(), V));
      for (std::int64_t j = 0; j < V; ++j) {
        row[j] = a * row[j] - ki * dd_[static_cast<std::size_t>(j)];
      }
    }
    std::copy(dd_.begin(), dd_.end(), out.dv.begin() + t * V);
    out.ddecay[static_cast<std::size_t>(t)] = ddecay;
    normalise_gradient(arithmetic_, q_hat_.data(), q_scale, N, shape_.norm, dq);
    normalise_gradient(arithmetic_, k_hat, inverse_norm(in.k.data() + t * N, N, shape_.norm), N, shape_.norm, dk);
  }

 private:
  // dy and dg from d_output; y comes from the cache where there is one, else from S_t.
  void gate_gradient(const Sequence<Real>& in, std::int64_t t, const Real* S_next, BackwardResult<Real>& out) {
    const Real* d_output = in.d_output.data() + t * shape_.V;
    if (!shape_.gate) {
      std::copy_n(d_output, shape_.V, dy_.data());
      return;
    }
    for (std::int64_t j = 0; j < shape_.V; ++j) {
      const auto at = static_cast<std::size_t>(t * shape_.V + j);
      Real y = 0;
      if (arithmetic_.reads_y_cache()) {
        y = in.y_cache[at];
      } else {
        for (std::int64_t i = 0; i < shape_.N; ++i) {
          y += S_next[i * shape_.V + j] * q_hat_[static_cast<std::size_t>(i)];
        }
      }
      const Real g = in.g[at];
      const Real s = sigmoid(g);
      out.dg[at] = d_output[j] * y * s * (Real(1) + g * (Real(1) - s));
      dy_[static_cast<std::size_t>(j)] = d_output[j] * g * s;
    }
  }

  Arithmetic arithmetic_;
  Shape shape_;
  std::vector<Real> dy_, delta_, dd_, q_hat_, next_;
};

// The gradients of sum(output * d_output) + sum(s_final * d_s_final). `in.checkpoints` holds the state before each
// segment: exact ones for Exact, the forward's bf16 ones for Honest.
template <class Arithmetic, class Real = typename Arithmetic::Real>
APO_WIDE BackwardResult<Real> backward(const Arithmetic& arithmetic, const Shape& shape, const Sequence<Real>& in) {
  BackwardResult<Real> out;
  out.dk.resize(in.k.size());
  out.dq.resize(in.q.size());
  out.dv.resize(in.v.size());
  out.dg.resize(in.v.size());
  out.ddecay.resize(in.decay.size());
  std::vector<Real> D = in.d_s_final;
  ReverseStep<Arithmetic> reverse_step(arithmetic, shape);
  SegmentHistory<Real> history;
  for (std::int64_t segment = shape.segments() - 1; segment >= 0; --segment) {
    replay_segment(arithmetic, shape, in, segment, history);
    const std::int64_t begin = segment * kSegment;
    for (std::int64_t s = std::min(kSegment, shape.T - begin) - 1; s >= 0; --s) {
      const Real* S = history.states.data() + s * shape.state();
      reverse_step(in, begin + s, S, S + shape.state(), history.k_hat.data() + s * shape.N, D.data(), out);
    }
  }
  out.ds0 = std::move(D);
  return out;
}

}  // namespace apo::e88
