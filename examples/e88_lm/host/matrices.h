// host/matrices.h - the three GEMMs of a linear layer y = x w^T, in loops that vectorise.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/views.h"

namespace byte_lm {

// In eight chains, so that it vectorises without reordering by the compiler.
template <class Real>
Real dot(const Real* a, const Real* b, std::int64_t count) {
  Real sums[8] = {};
  const std::int64_t whole = count - count % 8;
  for (std::int64_t i = 0; i < whole; i += 8) {
    for (std::int64_t lane = 0; lane < 8; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  Real sum = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  for (std::int64_t i = whole; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

template <class Real>
void add_scaled(const Real* from, Real factor, std::int64_t count, Real* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] += factor * from[i];
  }
}

// y[rows, outputs] = x[rows, inputs] w[outputs, inputs]^T
template <class Rounding, class Real>
void linear(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, const Real* x, const Real* w, View<Real> y) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t output = 0; output < outputs; ++output) {
      y.data[row * y.stride + output] = Rounding::half(dot(x + row * inputs, w + output * inputs, inputs));
    }
  }
}

// dx[rows, inputs] = dy[rows, outputs] w[outputs, inputs], added to dx where `adds`
template <class Rounding, class Real>
void linear_input_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const Real> dy,
                           const Real* w, Real* dx, bool adds) {
  for (std::int64_t row = 0; row < rows; ++row) {
    Real* to = dx + row * inputs;
    if (!adds) {
      std::fill_n(to, inputs, Real(0));
    }
    for (std::int64_t output = 0; output < outputs; ++output) {
      add_scaled(w + output * inputs, dy.data[row * dy.stride + output], inputs, to);
    }
    for (std::int64_t i = 0; i < inputs; ++i) {
      to[i] = Rounding::half(to[i]);
    }
  }
}

// dw[outputs, inputs] = dy[rows, outputs]^T x[rows, inputs]
template <class Real>
void linear_weight_gradient(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, View<const Real> dy,
                            const Real* x, Real* dw) {
  std::fill_n(dw, outputs * inputs, Real(0));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t output = 0; output < outputs; ++output) {
      add_scaled(x + row * inputs, dy.data[row * dy.stride + output], inputs, dw + output * inputs);
    }
  }
}

}  // namespace byte_lm
