// variants/e88_backward/scalar_phases.h - the phases of a step back in plain scalar code.
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

// dx = (dx^ - x^ (x^ . dx^)) factor: exact, because x^ carries the same epsilon.
[[maybe_unused]] void chain_rule_row(const float* unit, float factor, const float* gradient, uint16_t* dx) {
  float along = 0;
  for (int64_t i = 0; i < kN; ++i) {
    along += unit[i] * gradient[i];
  }
  for (int64_t i = 0; i < kN; ++i) {
    dx[i] = store(kNORM ? (gradient[i] - unit[i] * along) * factor : gradient[i]);
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

// FUSED_DK: both terms of dk are summed in one pass over the rows, which reads S and dS side by side.
[[gnu::always_inline]] inline void sum_both_terms(const auto& dS, const auto& delta, const auto& S, const auto& d_delta,
                                                  auto& dk) {
  for (int64_t i = 0; i < kN; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < kV; ++j) {
      sum += dS[i * kV + j] * delta[j] - S[i * kV + j] * d_delta[j];
    }
    dk[i] = sum;
  }
}

// The phases in order: dS is the gradient of S_next before and of S after. The caller declares all arrays of its step,
// the work arrays `slope` and `d_delta` (zeros) too: their order decides the stack frame.
[[gnu::always_inline]] inline void reverse(const auto& a, int64_t row, const auto& S, const auto& S_next, const auto& k,
                                           const auto& q, const auto& delta, const auto& dy, float decay, auto& slope,
                                           auto& d_delta,
#if FUSED_L2_NORM
                                           auto& dk, auto& dq, float q_factor,
#endif
                                           float* dS) {
  differentiate_tanh(S_next, slope);
#if !FUSED_L2_NORM
  float* dq = static_cast<float*>(a.gradient_q) + row * kN;
#endif
  multiply(S_next, dy, dq);
  pass_tanh(q, dy, slope, dS);
  add_transposed_product(dS, k, d_delta);
#if !FUSED_L2_NORM
  float* dk = static_cast<float*>(a.gradient_k) + row * kN;
#endif
#if FUSED_DK
  sum_both_terms(dS, delta, S, d_delta, dk);
  const float d_decay = dot(dS, S);
#else
  multiply(dS, delta, dk);
  const float d_decay = dot(dS, S);
  subtract_product(S, d_delta, dk);
#endif
  pass_update(k, d_delta, decay, dS);
#if FUSED_L2_NORM
  chain_rule_row(k, inverse_norm(a.k + row * kN), dk, a.dk + row * kN);
  chain_rule_row(q, q_factor, dq, a.dq + row * kN);
#endif
  store(d_delta, a.dv + row * kV);
  a.ddecay[row] = store(d_decay);
}

}  // namespace
