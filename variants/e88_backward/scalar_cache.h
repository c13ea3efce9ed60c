// variants/e88_backward/scalar_cache.h - the cache of a segment between its replay and its reverse steps, as the
// toggles of simple want it.
#pragma once
#include "scalar_phases.h"

namespace {

constexpr int64_t kUsed = kN * kV + kN + kV + 1;  // cached per step: S_{t-1}, k^, v, a

// FP32_CACHE: nothing is rounded or converted between replay and reverse. REUSED_STATE: S_t is the next entry of the
// fp32 cache and delta is kept in the place of v: no second retrieval, no second tanh pass. One more entry is for the
// state after the last step.
struct Cache {
#if FP32_CACHE
  using Element = float;
#else
  using Element = uint16_t;
#endif
  // PADDED_CACHE: each step starts on a cache line, which is 32 elements of bf16.
  static constexpr int64_t kEntry = PADDED_CACHE ? (kUsed + 31) / 32 * 32 : kUsed, kEntries = kSegment + REUSED_STATE;

#if REUSED_STATE
  static void replay_segment(const e88_backward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps,
                             float* history) {
    float v[kV];
    load(a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kN * kV, kN * kV, history);
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t row = (b * a.T + first + s) * a.H + h;
      load(a.v + row * kV, v);
      float *S = history + s * kEntry, *k = S + kN * kV, *delta = k + kN;
      load_key(a, row, k);
      S[kEntry - 1] = load(a.decay[row]);
      retrieve(S, k, v, delta);
      update(S, k, delta, S[kEntry - 1], S + kEntry);
    }
  }
#else
  static void replay_segment(const e88_backward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps,
                             Element* history) {
    float S[kN * kV], k[kN], v[kV], delta[kV];
    load(a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kN * kV, S);
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t row = (b * a.T + first + s) * a.H + h;
      const float decay = load(a.decay[row]);
      load_key(a, row, k);
      load(a.v + row * kV, v);
      Element* entry = history + s * kEntry;
#if FP32_CACHE
      std::copy_n(S, kN * kV, entry);
      std::copy_n(k, kN, entry + kN * kV);
      std::copy_n(v, kV, entry + kN * kV + kN);
      entry[kEntry - 1] = decay;
#else
      store(S, entry);
      store(k, entry + kN * kV);
      store(v, entry + kN * kV + kN);
      entry[kUsed - 1] = a.decay[row];
#endif
      retrieve(S, k, v, delta);
      update(S, k, delta, decay, S);
    }
  }
#endif

  static void reverse_step(const e88_backward_args& a, int64_t row, const Element* entry, float* dS) {
#if REUSED_STATE
    const float *S = entry, *k = entry + kN * kV, *delta = k + kN, *S_next = S + kEntry;
    const float decay = entry[kEntry - 1];
    float slope[kN * kV], q[kN], dy[kV], d_delta[kV] = {};
#elif FP32_CACHE
    const float *S = entry, *k = entry + kN * kV, *v = k + kN;
    const float decay = entry[kEntry - 1];
    float S_next[kN * kV], slope[kN * kV], q[kN], delta[kV], dy[kV], d_delta[kV] = {};
#else
    float S[kN * kV], S_next[kN * kV], slope[kN * kV], k[kN], q[kN], v[kV], delta[kV], dy[kV], d_delta[kV] = {};
#endif
#if FUSED_L2_NORM
    float dk[kN], dq[kN];
#endif
#if !FP32_CACHE
    load(entry, S);
    load(entry + kN * kV, k);
    load(entry + kN * kV + kN, v);
    const float decay = load(entry[kUsed - 1]);
#endif
#if FUSED_L2_NORM
    const float q_factor = normalise(a.q + row * kN, q);
#else
    std::copy_n(static_cast<const float*>(a.unit_q) + row * kN, kN, q);
#endif
    gate_gradient(a, row, dy);
#if !REUSED_STATE
    retrieve(S, k, v, delta);
    update(S, k, delta, decay, S_next);
#endif
#if FUSED_L2_NORM
    reverse(a, row, S, S_next, k, q, delta, dy, decay, slope, d_delta, dk, dq, q_factor, dS);
#else
    reverse(a, row, S, S_next, k, q, delta, dy, decay, slope, d_delta, dS);
#endif
  }

 private:
  // FUSED_L2_NORM: k and q are normalised as they are loaded and dk, dq corrected as they are stored: no fp32 copies.
  [[gnu::always_inline]] static void load_key(const e88_backward_args& a, int64_t row, auto& k) {
#if FUSED_L2_NORM
    normalise(a.k + row * kN, k);
#else
    std::copy_n(static_cast<const float*>(a.unit_k) + row * kN, kN, k);
#endif
  }
};

[[gnu::always_inline]] inline void run(const e88_backward_args& a, int64_t b, int64_t h) {
  run_sequence<Cache>(a, b, h);
}

}  // namespace
