// variants/e88_forward/phases.h - the phases of the forward: norm passes, every sequence step by step, a gate pass.
// Include e88_scalar.h or e88_vector.h first: they say what a State is and how a step updates it.
#pragma once
#include "e88.h"

namespace {

// The L2 norm of all rows of k or q as a pass of its own over memory, as the separate operation of the original.
void normalise(const uint16_t* x, int64_t rows, float* unit) {
  for (int64_t row = 0; row < rows; ++row, x += kN, unit += kN) {
    float squares = 0;
    for (int64_t i = 0; i < kN; ++i) {
      squares += load(x[i]) * load(x[i]);
    }
    const float scale = kNORM ? 1.0f / std::sqrt(squares + 1e-12f) : 1.0f;
    for (int64_t i = 0; i < kN; ++i) {
      unit[i] = load(x[i]) * scale;
    }
  }
}

// output = y * silu(g), of one row or of all
void gate(const float* y, const uint16_t* g, int64_t count, uint16_t* output) {
  for (int64_t i = 0; i < count; ++i) {
    const float raw = load(g[i]);
    output[i] = store(kGATE ? y[i] * raw / (1.0f + std::exp(-raw)) : y[i]);
  }
}

// k^, q^ and the ungated y stand in scratch. `a` is e88_forward_args, deduced because not every variant has that
// scratch.
[[gnu::always_inline]] inline void norm_pass(const auto& a) {
  normalise(a.k, a.B * a.T * a.H, static_cast<float*>(a.unit_k));
  normalise(a.q, a.B * a.T * a.H, static_cast<float*>(a.unit_q));
}

[[gnu::always_inline]] inline void gate_pass(const auto& a) {
  gate(static_cast<const float*>(a.ungated), a.g, a.B * a.T * a.H * kV, a.output);
}

void run_sequence(const auto& a, int64_t b, int64_t h) {
  const int64_t sequence = b * a.H + h;
  State S;
  Row v, delta, y;
  load(a.s0 + sequence * kN * kV, S);
  for (int64_t t = 0; t < a.T; ++t) {
    const int64_t row = (b * a.T + t) * a.H + h;
    if (t % kSegment == 0) {
      store(S, a.checkpoints + (t / kSegment * a.B * a.H + sequence) * kN * kV);
    }
    const float* k = static_cast<const float*>(a.unit_k) + row * kN;
    const float* q = static_cast<const float*>(a.unit_q) + row * kN;
    load(a.v + row * kV, v);
    retrieve(S, k, v, delta);
    update(S, k, delta, load(a.decay[row]), S);
    query(S, q, y);
    copy_row(y, static_cast<float*>(a.ungated) + row * kV);
    store(y, a.y_cache + row * kV);
  }
  store(S, a.s_final + sequence * kN * kV);
}

}  // namespace
