// kernels/formulas.h - the formulas of single elements that the host and the GPU share.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define E88_LM_BOTH __host__ __device__
#else
#define E88_LM_BOTH
#endif

namespace byte_lm {

constexpr double kNormEpsilon = 1e-5;   // of RMSNorm
constexpr double kKeyEpsilon = 1e-12;   // of the E88 kernels' normalisation of k and q
constexpr double kSoftplusLinear = 20;  // softplus(x) is x from here on

template <class Real>
E88_LM_BOTH Real exponential(Real x) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return ::expf(x);
  } else {
    return ::exp(x);
  }
}

template <class Real>
E88_LM_BOTH Real logarithm_1p(Real x) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return ::log1pf(x);
  } else {
    return ::log1p(x);
  }
}

template <class Real>
E88_LM_BOTH Real square_root(Real x) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return ::sqrtf(x);
  } else {
    return ::sqrt(x);
  }
}

template <class Real>
E88_LM_BOTH Real sigmoid(Real x) {
  return Real(1) / (Real(1) + exponential(-x));
}

template <class Real>
E88_LM_BOTH Real silu(Real x) {
  return x * sigmoid(x);
}

template <class Real>
E88_LM_BOTH Real silu_gradient(Real x, Real arriving) {
  const Real s = sigmoid(x);
  return arriving * s * (Real(1) + x * (Real(1) - s));
}

// a = exp(-exp(A_log) softplus(alpha + dt_bias)), the decay of a head's state.
template <class Real>
struct Decay {
  Real value;
  Real rate;   // -exp(A_log)
  Real step;   // softplus(alpha + dt_bias)
  Real slope;  // its derivative

  E88_LM_BOTH Decay(Real alpha, Real a_log, Real dt_bias) {
    const Real x = alpha + dt_bias;
    rate = -exponential(a_log);
    step = x > Real(kSoftplusLinear) ? x : logarithm_1p(exponential(x));
    slope = sigmoid(x);
    value = exponential(rate * step);
  }
  E88_LM_BOTH Real alpha_gradient(Real arriving) const { return arriving * value * rate * slope; }
  E88_LM_BOTH Real a_log_gradient(Real arriving) const { return arriving * value * rate * step; }
};

// AdamW (Loshchilov & Hutter 2019).
struct AdamSettings {
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  // of matrices
  double clip = 1.0;           // largest norm of all gradients together
};

// What changes from step to step, besides the bytes: in memory, so that a recorded graph reads the new values.
struct StepScalars {
  double inverse_scored = 0;  // 1 / scored bytes of the batch
  double rate = 0;
  double correction1 = 1;  // 1 - beta1^step
  double correction2 = 1;
};

// The factor of all gradients; `squares` is the sum of their squares.
E88_LM_BOTH inline double clip_factor(const AdamSettings& settings, double squares) {
  const double norm = ::sqrt(squares);
  return norm > settings.clip ? settings.clip / norm : 1.0;
}

template <class Real>
E88_LM_BOTH void adamw(const AdamSettings& settings, const StepScalars& scalars, Real gradient, bool decays,
                       Real& master, Real& first, Real& second) {
  const Real beta1 = Real(settings.beta1), beta2 = Real(settings.beta2);
  first = beta1 * first + (Real(1) - beta1) * gradient;
  second = beta2 * second + (Real(1) - beta2) * gradient * gradient;
  const Real scale = square_root(second / Real(scalars.correction2)) + Real(settings.epsilon);
  const Real shrink = decays ? Real(scalars.rate * settings.weight_decay) : Real(0);
  master -= shrink * master + Real(scalars.rate / scalars.correction1) * first / scale;
}

}  // namespace byte_lm
