// variants/e88_backward/scalar_phases.h - the phases of a step back in plain scalar code, and the bf16 cache.
// A phase takes arrays by reference and is always inlined: a variant's code is as if the loops stood in its own step.
#pragma once
#include "e88_scalar.h"
#include "phases.h"

namespace {

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
void gate_gradient(const e88_backward_args& a, int64_t row, float* dy) {
  for (int64_t j = 0; j < kV; ++j) {
    const float d_output = load(a.d_output[row * kV + j]);
    const float g = load(a.g[row * kV + j]);
    const float sigmoid = 1.0f / (1.0f + std::exp(-g));
    const float slope = sigmoid * (1.0f + g * (1.0f - sigmoid));
    dy[j] = kGATE ? d_output * g * sigmoid : d_output;
    a.dg[row * kV + j] = store(kGATE ? d_output * load(a.y_cache[row * kV + j]) * slope : 0.0f);
  }
}

// tanh' at S_next
[[gnu::always_inline]] inline void differentiate_tanh(const auto& S_next, auto& slope) {
  for (int64_t e = 0; e < kN * kV; ++e) {
    slope[e] = 1.0f - S_next[e] * S_next[e];
  }
}

// dS = (dS + q dy^T) * slope: from the gradient of S_next to that of what tanh took
[[gnu::always_inline]] inline void pass_tanh(const auto& q, const auto& dy, const auto& slope, float* dS) {
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      dS[i * kV + j] = (dS[i * kV + j] + q[i] * dy[j]) * slope[i * kV + j];
    }
  }
}

// result = M x
[[gnu::always_inline]] inline void multiply(const auto& M, const auto& x, auto& result) {
  for (int64_t i = 0; i < kN; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < kV; ++j) {
      sum += M[i * kV + j] * x[j];
    }
    result[i] = sum;
  }
}

// result -= M x
[[gnu::always_inline]] inline void subtract_product(const auto& M, const auto& x, auto& result) {
  for (int64_t i = 0; i < kN; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < kV; ++j) {
      sum += M[i * kV + j] * x[j];
    }
    result[i] -= sum;
  }
}

// result += M^T x
[[gnu::always_inline]] inline void add_transposed_product(const auto& M, const auto& x, auto& result) {
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      result[j] += M[i * kV + j] * x[i];
    }
  }
}

// The sum over all elements of dS * S
[[gnu::always_inline]] inline float dot(const auto& dS, const auto& S) {
  float sum = 0;
  for (int64_t e = 0; e < kN * kV; ++e) {
    sum += dS[e] * S[e];
  }
  return sum;
}

// dS = decay dS - k d_delta^T: the gradient of the state before the step
[[gnu::always_inline]] inline void pass_update(const auto& k, const auto& d_delta, float decay, float* dS) {
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      dS[i * kV + j] = decay * dS[i * kV + j] - k[i] * d_delta[j];
    }
  }
}

// The phases in order: dS is the gradient of S_next before and of S after. The caller declares all arrays of its step,
// the work arrays `slope` and `d_delta` (zeros) too: their order decides the stack frame.
[[gnu::always_inline]] inline void reverse(const auto& a, int64_t row, const auto& S, const auto& S_next, const auto& k,
                                           const auto& q, const auto& delta, const auto& dy, float decay, auto& slope,
                                           auto& d_delta, float* dS) {
  differentiate_tanh(S_next, slope);
  float* dq = static_cast<float*>(a.gradient_q) + row * kN;
  multiply(S_next, dy, dq);
  pass_tanh(q, dy, slope, dS);
  add_transposed_product(dS, k, d_delta);
  float* dk = static_cast<float*>(a.gradient_k) + row * kN;
  multiply(dS, delta, dk);
  const float d_decay = dot(dS, S);
  subtract_product(S, d_delta, dk);
  pass_update(k, d_delta, decay, dS);
  store(d_delta, a.dv + row * kV);
  a.ddecay[row] = store(d_decay);
}

constexpr int64_t kUsed = kN * kV + kN + kV + 1;  // cached per step: S_{t-1}, k^, v, a

// Entries in bf16, `stride` elements apart; reversing a step retrieves and updates once more. `a` is e88_backward_args,
// deduced because a variant that replaces one of the two functions need not have its scratch.
template <int64_t stride>
struct Bf16Cache {
  using Element = uint16_t;
  static constexpr int64_t kEntry = stride, kEntries = kSegment;

  [[gnu::always_inline]] static void write(const auto& S, const auto& k, const auto& v, const uint16_t& decay,
                                           uint16_t* entry) {
    store(S, entry);
    store(k, entry + kN * kV);
    store(v, entry + kN * kV + kN);
    entry[kUsed - 1] = decay;
  }

  // Returns the decay.
  [[gnu::always_inline]] static float read(const uint16_t* entry, auto& S, auto& k, auto& v) {
    load(entry, S);
    load(entry + kN * kV, k);
    load(entry + kN * kV + kN, v);
    return load(entry[kUsed - 1]);
  }

  static void replay_segment(const auto& a, int64_t b, int64_t h, int64_t first, int64_t steps, uint16_t* history) {
    float S[kN * kV], k[kN], v[kV], delta[kV];
    load(a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kN * kV, S);
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t row = (b * a.T + first + s) * a.H + h;
      const float decay = load(a.decay[row]);
      std::copy_n(static_cast<const float*>(a.unit_k) + row * kN, kN, k);
      load(a.v + row * kV, v);
      write(S, k, v, a.decay[row], history + s * kEntry);
      retrieve(S, k, v, delta);
      update(S, k, delta, decay, S);
    }
  }

  static void reverse_step(const auto& a, int64_t row, const uint16_t* entry, float* dS) {
    float S[kN * kV], S_next[kN * kV], slope[kN * kV], k[kN], q[kN], v[kV], delta[kV], dy[kV], d_delta[kV] = {};
    const float decay = read(entry, S, k, v);
    std::copy_n(static_cast<const float*>(a.unit_q) + row * kN, kN, q);
    gate_gradient(a, row, dy);
    retrieve(S, k, v, delta);
    update(S, k, delta, decay, S_next);
    reverse(a, row, S, S_next, k, q, delta, dy, decay, slope, d_delta, dS);
  }
};

}  // namespace
