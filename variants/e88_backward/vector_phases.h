// variants/e88_backward/vector_phases.h - the phases of a step back on SIMD lanes.
#pragma once
#include "e88_vector.h"
#include "phases.h"

namespace {

// dy = d_output * silu(g), dg = d_output * y * silu'(g); without a gate o = y.
void gate_gradient(const e88_backward_args& a, int64_t row, Row& dy) {
  Row g, y, dg = {};
  load(a.d_output + row * kV, dy);
  if (kGATE) {
    load(a.g + row * kV, g);
    load(a.y_cache + row * kV, y);
    for (int64_t c = 0; c < kColumns; ++c) {
      const Lanes s = sigmoid(g[c]);
      dg[c] = dy[c] * y[c] * s * (1.0f + g[c] * (1.0f - s));
      dy[c] *= g[c] * s;
    }
  }
  store(dg, a.dg + row * kV);
}

float sum(Lanes x) {
  for (int32_t step = kLanes / 2; step > 0; step /= 2) {
    x += __builtin_shuffle(x, kLane ^ step);
  }
  return x[0];
}

// sum_j S[i][j] x[j] of each row i
void multiply_rows(const State& S, const Row& x, float* result) {
  for (int64_t i = 0; i < kN; ++i) {
    Lanes partial = {};
    for (int64_t c = 0; c < kColumns; ++c) {
      partial += S[i][c] * x[c];
    }
    result[i] = sum(partial);
  }
}

// dS is the gradient of S_next before and of S after. The caller declares all arrays of its step, d_delta zeroed.
[[gnu::always_inline]] inline void reverse(const auto& a, int64_t row, const State& S, const State& S_next,
                                           const auto& k, const float* q, const Row& delta, const Row& dy, float decay,
                                           Row& d_delta, auto& dk, State& dS) {
  multiply_rows(S_next, dy, static_cast<float*>(a.gradient_q) + row * kN);
  Lanes d_decay = {};
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t c = 0; c < kColumns; ++c) {
      dS[i][c] = (dS[i][c] + q[i] * dy[c]) * (1.0f - S_next[i][c] * S_next[i][c]);
      d_delta[c] += dS[i][c] * k[i];
      d_decay += dS[i][c] * S[i][c];
    }
  }
  float* gradient_k = static_cast<float*>(a.gradient_k) + row * kN;
  multiply_rows(dS, delta, gradient_k);
  multiply_rows(S, d_delta, dk);
  for (int64_t i = 0; i < kN; ++i) {
    gradient_k[i] -= dk[i];
    for (int64_t c = 0; c < kColumns; ++c) {
      dS[i][c] = decay * dS[i][c] - k[i] * d_delta[c];
    }
  }
  store(d_delta, a.dv + row * kV);
  a.ddecay[row] = store(sum(d_decay));
}

}  // namespace
