// variants/common/e88_scalar.h - a step of the E88 recurrence in plain scalar code, for forward and backward.
// S_t = tanh(a_t S_{t-1} + k_t delta_t^T) with delta_t = v_t - S_{t-1}^T k_t. Needs the family's args.h.
#pragma once
#include <algorithm>

#include "e88.h"

namespace {

using State = float[kN * kV];  // element (i, j) at i * kV + j
using Row = float[kV];

// delta = v - S^T k
void retrieve(const float* S, const float* k, const float* v, float* delta) {
  std::copy_n(v, kV, delta);
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      delta[j] -= S[i * kV + j] * k[i];
    }
  }
}

// next = tanh(decay S + k delta^T); next may be S.
void update(const float* S, const float* k, const float* delta, float decay, float* next) {
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      next[i * kV + j] = std::tanh(decay * S[i * kV + j] + k[i] * delta[j]);
    }
  }
}

// y = S^T q
void query(const float* S, const float* q, float* y) {
  std::fill_n(y, kV, 0.0f);
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kV; ++j) {
      y[j] += S[i * kV + j] * q[i];
    }
  }
}

// y as fp32, for a pass that reads it later
[[gnu::always_inline]] inline void copy_row(const Row& from, float* to) {
  std::copy_n(from, kV, to);
}

}  // namespace
