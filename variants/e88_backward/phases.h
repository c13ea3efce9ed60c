// variants/e88_backward/phases.h - what stands round a step back: the norm passes, and the walk over the segments.
// Include e88_scalar.h or e88_vector.h first: they say what a State is.
#pragma once
#include <algorithm>

#include "e88.h"

namespace {

// The L2 norm of all rows of k or q as a pass of its own over memory, as the separate operation of the original.
void normalise(const uint16_t* x, int64_t rows, float* unit) {
  for (int64_t row = 0; row < rows; ++row, x += kN, unit += kN) {
    const float scale = inverse_norm(x);
    for (int64_t i = 0; i < kN; ++i) {
      unit[i] = load(x[i]) * scale;
    }
  }
}

// dx = (dx^ - x^ (x^ . dx^)) rsqrt(|x|^2 + epsilon): exact, because x^ carries the same epsilon.
void chain_rule(const uint16_t* x, const float* unit, const float* gradient, int64_t rows, uint16_t* dx) {
  for (int64_t row = 0; row < rows; ++row, x += kN, unit += kN, gradient += kN, dx += kN) {
    const float scale = inverse_norm(x);
    float along = 0;
    for (int64_t i = 0; i < kN; ++i) {
      along += unit[i] * gradient[i];
    }
    for (int64_t i = 0; i < kN; ++i) {
      dx[i] = store(kNORM ? (gradient[i] - unit[i] * along) * scale : gradient[i]);
    }
  }
}

// A Cache says how a segment is replayed into it (replay_segment) and how a step is reversed from it (reverse_step).
// A sequence has kEntries entries of kEntry elements in `history`.
template <class Cache>
void run_sequence(const e88_backward_args& a, int64_t b, int64_t h) {
  const int64_t sequence = b * a.H + h;
  auto* history = static_cast<typename Cache::Element*>(a.history) + sequence * Cache::kEntries * Cache::kEntry;
  State dS;
  load(a.d_s_final + sequence * kN * kV, dS);
  for (int64_t first = (a.T - 1) / kSegment * kSegment; first >= 0; first -= kSegment) {
    const int64_t steps = std::min(kSegment, a.T - first);
    Cache::replay_segment(a, b, h, first, steps, history);
    for (int64_t s = steps - 1; s >= 0; --s) {
      Cache::reverse_step(a, (b * a.T + first + s) * a.H + h, history + s * Cache::kEntry, dS);
    }
  }
  store(dS, a.ds0 + sequence * kN * kV);
}

// The norm passes before and after `work`, but for FUSED_L2_NORM, which does without. `a` is e88_backward_args, deduced
// because not every variant has that scratch.
[[gnu::always_inline]] inline void between_norm_passes(const auto& a, auto work) {
#if FUSED_L2_NORM
  work();
#else
  const int64_t rows = a.B * a.T * a.H;
  auto* unit_k = static_cast<float*>(a.unit_k);
  auto* unit_q = static_cast<float*>(a.unit_q);
  normalise(a.k, rows, unit_k);
  normalise(a.q, rows, unit_q);
  work();
  chain_rule(a.k, unit_k, static_cast<const float*>(a.gradient_k), rows, a.dk);
  chain_rule(a.q, unit_q, static_cast<const float*>(a.gradient_q), rows, a.dq);
#endif
}

}  // namespace
