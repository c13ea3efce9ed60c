// tests/kernels/e88_alternatives.cpp - the recurrence and its gradient in plain fp32, element by element.
#include "tests/kernels/e88_alternatives.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/random.h"
#include "kernels/rounding.h"

namespace apo {
namespace {

constexpr std::size_t kSegment = 16;

float rounded(float value) {
  return bf16_to_float(float_to_bf16(value));
}

struct Sizes {
  std::size_t B, T, H, N, V;
  bool gate, norm;

  explicit Sizes(const Axes& axes)
      : B(at(axes, "B")),
        T(at(axes, "T")),
        H(at(axes, "H")),
        N(at(axes, "N")),
        V(at(axes, "V")),
        gate(at(axes, "GATE") == 1),
        norm(at(axes, "NORM") == 1) {}
  static std::size_t at(const Axes& axes, std::string_view name) {
    return static_cast<std::size_t>(axes.find(name)->second);
  }
  std::size_t slots() const { return (T + kSegment - 1) / kSegment; }
  std::size_t row(std::size_t b, std::size_t t, std::size_t h) const { return (b * T + t) * H + h; }
  std::size_t slot(std::size_t c, std::size_t b, std::size_t h) const { return ((c * B + b) * H + h) * N * V; }
};

// One (b,h) sequence of one implementation.
class Head {
 public:
  Head(const Sizes& sizes, const TensorMap& inputs, const LegalChange& how, std::size_t b, std::size_t h)
      : z_(sizes), in_(inputs), how_(how), b_(b), h_(h), S_(z_.N * z_.V) {}

  void forward(TensorMap& out) {
    load_state("s0", z_.slot(0, b_, h_));
    for (std::size_t t = 0; t < z_.T; ++t) {
      if (t % kSegment == 0 && !how_.checkpoints_late) {
        store_state(out["checkpoints"], z_.slot(t / kSegment, b_, h_));
      }
      if (!(how_.skips_last_step && t + 1 == z_.T)) {
        step(t, hat("k", t));
        store_outputs(t, out);
      }
      if (t % kSegment == 0 && how_.checkpoints_late) {
        store_state(out["checkpoints"], z_.slot(t / kSegment, b_, h_));
      }
    }
    store_state(out["s_final"], z_.slot(0, b_, h_));
  }

  void backward(TensorMap& out) {
    replay_everything();
    std::vector<float> D(S_.size(), 0.0f);
    for (std::size_t e = 0; e < D.size() && !how_.ignores_d_s_final; ++e) {
      D[e] = static_cast<float>(tensor("d_s_final")[z_.slot(0, b_, h_) + e]);
    }
    for (std::size_t t = z_.T; t-- > 0;) {
      if (how_.resets_carry && t % kSegment == kSegment - 1 && t + 1 < z_.T) {
        std::fill(D.begin(), D.end(), 0.0f);
      }
      if (!(how_.skips_last_step && t + 1 == z_.T)) {
        reverse(t, D, out);
      }
    }
    for (std::size_t e = 0; e < D.size(); ++e) {
      out["ds0"][z_.slot(0, b_, h_) + e] = static_cast<double>(rounded(D[e]));
    }
  }

 private:
  const std::vector<double>& tensor(std::string_view name) const { return in_.find(name)->second; }
  float input(std::string_view name, std::size_t t, std::size_t width, std::size_t i) const {
    return static_cast<float>(tensor(name)[z_.row(b_, t, h_) * width + i]);
  }
  void load_state(std::string_view name, std::size_t offset) {
    for (std::size_t e = 0; e < S_.size(); ++e) {
      S_[e] = static_cast<float>(tensor(name)[offset + e]);
    }
  }
  void store_state(std::vector<double>& to, std::size_t offset) const {
    for (std::size_t e = 0; e < S_.size(); ++e) {
      to[offset + e] = static_cast<double>(rounded(S_[e]));
    }
  }

  template <class Term>
  float sum(std::size_t count, Term term) const {
    float total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      total += term(how_.reversed_sums ? count - 1 - i : i);
      total = how_.bf16_sums ? rounded(total) : total;
    }
    return total;
  }

  float tanh(float x) const {
    constexpr float kError = 0x1p-11f;
    const float exact = std::tanh(x);
    switch (how_.tanh) {
      case Tanh::library:
        return exact;
      case Tanh::dithered: {
        const auto bits = static_cast<std::uint32_t>(mix64(std::bit_cast<std::uint32_t>(x)) >> 40);
        return exact * (1.0f + kError * (static_cast<float>(bits) * 0x1p-23f - 1.0f));
      }
      case Tanh::rippled:
        return exact * (1.0f + kError * std::sin(40.0f * x));
    }
    return exact;
  }

  float inverse_norm(std::string_view name, std::size_t t) const {
    if (!z_.norm) {
      return 1.0f;
    }
    return 1.0f / std::sqrt(sum(z_.N,
                                [&](std::size_t i) {
                                  const float x = input(name, t, z_.N, i);
                                  return x * x;
                                }) +
                            1e-12f);
  }
  std::vector<float> hat(std::string_view name, std::size_t t) const {
    std::vector<float> x(z_.N);
    const float scale = inverse_norm(name, t);
    for (std::size_t i = 0; i < z_.N; ++i) {
      x[i] = input(name, t, z_.N, i) * scale;
    }
    return x;
  }
  std::vector<float> delta(std::size_t t, const std::vector<float>& S, const std::vector<float>& k) const {
    std::vector<float> d(z_.V);
    const float a = how_.updates_before_retrieval ? input("decay", t, 1, 0) : 1.0f;
    for (std::size_t j = 0; j < z_.V; ++j) {
      d[j] = input("v", t, z_.V, j) - sum(z_.N, [&](std::size_t i) { return a * S[i * z_.V + j] * k[i]; });
    }
    return d;
  }
  std::vector<float> next_state(std::size_t t, const std::vector<float>& S, const std::vector<float>& k) const {
    const std::vector<float> d = delta(t, S, k);
    const float a = input("decay", t, 1, 0);
    std::vector<float> next(S.size());
    for (std::size_t i = 0; i < z_.N; ++i) {
      for (std::size_t j = 0; j < z_.V; ++j) {
        next[i * z_.V + j] = tanh(a * S[i * z_.V + j] + k[i] * d[j]);
      }
    }
    return next;
  }
  void step(std::size_t t, const std::vector<float>& k) { S_ = next_state(t, S_, k); }

  float query(std::size_t j, const std::vector<float>& S, const std::vector<float>& q) const {
    return sum(z_.N, [&](std::size_t i) { return S[i * z_.V + j] * q[i]; });
  }
  void store_outputs(std::size_t t, TensorMap& out) const {
    const std::vector<float> q = hat("q", t);
    for (std::size_t j = 0; j < z_.V; ++j) {
      const float y = query(j, S_, q);
      const float g = input("g", t, z_.V, j);
      const float gated = z_.gate ? y * g / (1.0f + std::exp(-g)) : y;
      const std::size_t at = z_.row(b_, t, h_) * z_.V + j;
      out["output"][at] = static_cast<double>(rounded(gated));
      out["y_cache"][at] = static_cast<double>(rounded(how_.gates_y ? gated : y));
    }
  }

  // S_{t-1} of every step, as this implementation keeps them.
  void replay_everything() {
    history_.clear();
    for (std::size_t t = 0; t < z_.T; ++t) {
      if (t == 0 || (t % kSegment == 0 && !how_.fresh_trajectory)) {
        load_state("checkpoints", z_.slot(t / kSegment, b_, h_));
      }
      history_.push_back(S_);
      step(t, hat("k", t));
    }
  }

  void reverse(std::size_t t, std::vector<float>& D, TensorMap& out) {
    const std::size_t N = z_.N, V = z_.V;
    std::vector<float> S = history_[t];
    std::vector<float> k = hat("k", t);
    const std::vector<float> q = hat("q", t);
    if (how_.rounds_cache) {
      std::transform(S.begin(), S.end(), S.begin(), rounded);
      std::transform(k.begin(), k.end(), k.begin(), rounded);
    }
    const std::vector<float> next = next_state(t, S, k);
    const std::vector<float> d = delta(t, S, k);
    const float a = input("decay", t, 1, 0);

    std::vector<float> dy(V), dd(V), dk(N), dq(N);
    for (std::size_t j = 0; j < V; ++j) {
      dy[j] = gate(t, j, query(j, next, q), out);
    }
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < V; ++j) {
        float& P = D[i * V + j];
        P = (P + q[i] * dy[j]) * (1.0f - next[i * V + j] * next[i * V + j]);
      }
    }
    for (std::size_t j = 0; j < V; ++j) {
      dd[j] = sum(N, [&](std::size_t i) { return D[i * V + j] * k[i]; });
    }
    for (std::size_t i = 0; i < N; ++i) {
      dq[i] = sum(V, [&](std::size_t j) { return next[i * V + j] * dy[j]; });
      dk[i] = sum(V, [&](std::size_t j) {
        return (how_.drops_delta_term ? 0.0f : D[i * V + j] * d[j]) -
               (how_.drops_dd_term ? 0.0f : S[i * V + j] * dd[j]);
      });
    }
    const float ddecay = sum(N * V, [&](std::size_t e) { return D[e] * S[e]; });
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < V; ++j) {
        D[i * V + j] = a * D[i * V + j] - (how_.drops_carry_term ? 0.0f : k[i] * dd[j]);
      }
    }
    chain("k", t, k, dk);
    chain("q", t, q, dq);
    store(out["dk"], t, dk);
    store(out["dq"], t, dq);
    store(out["dv"], t, dd);
    out["ddecay"][z_.row(b_, t, h_)] = how_.drops_ddecay ? 0.0 : static_cast<double>(rounded(ddecay));
  }

  // dy of one column; writes dg.
  float gate(std::size_t t, std::size_t j, float y, TensorMap& out) const {
    const float d_output = input("d_output", t, z_.V, j);
    if (!z_.gate) {
      return d_output;
    }
    const float g = input("g", t, z_.V, j);
    const float s = 1.0f / (1.0f + std::exp(-g));
    y = how_.recomputes_y ? y : input("y_cache", t, z_.V, j);
    y = how_.gates_y ? y / (g * s + 1e-8f) : y;
    const float derivative = how_.drops_gate_derivative ? s : s * (1.0f + g * (1.0f - s));
    out["dg"][z_.row(b_, t, h_) * z_.V + j] = static_cast<double>(rounded(d_output * y * derivative));
    return d_output * g * s;
  }

  void chain(std::string_view name, std::size_t t, const std::vector<float>& x, std::vector<float>& dx) const {
    if (!z_.norm) {
      return;
    }
    const float projection = how_.drops_norm_chain ? 0.0f : sum(z_.N, [&](std::size_t i) { return x[i] * dx[i]; });
    const float scale = inverse_norm(name, t);
    for (std::size_t i = 0; i < z_.N; ++i) {
      dx[i] = (dx[i] - x[i] * projection) * scale;
    }
  }
  void store(std::vector<double>& to, std::size_t t, const std::vector<float>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      to[z_.row(b_, t, h_) * values.size() + i] = static_cast<double>(rounded(values[i]));
    }
  }

  Sizes z_;
  const TensorMap& in_;
  const LegalChange& how_;
  std::size_t b_, h_;
  std::vector<float> S_;
  std::vector<std::vector<float>> history_;
};

}  // namespace

Axes e88_axes(std::int64_t B, std::int64_t T, std::int64_t H, std::int64_t N, std::int64_t V, int gate, int norm) {
  return {{"B", B}, {"T", T}, {"H", H}, {"N", N}, {"V", V}, {"GATE", gate}, {"NORM", norm}};
}

TensorMap e88_inputs(const Family& family, const Axes& axes, std::string_view regime, std::uint64_t seed, int threads) {
  TensorMap inputs = family.fill(axes, seed, regime, threads);
  for (auto& [name, values] : inputs) {
    std::ranges::transform(values, values.begin(), round_to_bf16);
  }
  inputs.merge(family.derive(axes, inputs, threads));
  return inputs;
}

TensorMap run_alternative(const Family& family, const Axes& axes, const TensorMap& inputs, const LegalChange& how) {
  const Sizes sizes(axes);
  TensorMap out;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      out[tensor.name].assign(static_cast<std::size_t>(element_count(tensor, axes)), 0.0);
    }
  }
  for (std::size_t b = 0; b < sizes.B; ++b) {
    for (std::size_t h = 0; h < sizes.H; ++h) {
      Head head(sizes, inputs, how, b, h);
      family.name == "e88_forward" ? head.forward(out) : head.backward(out);
    }
  }
  return out;
}

}  // namespace apo
