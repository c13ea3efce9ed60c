// apo:variant    e88_backward/reused_state
// apo:target     host
// apo:technique  reused-state
// apo:parent     e88_backward/fp32_cache
// apo:idea       S_t is the next entry of the fp32 cache and delta is kept: no second retrieval, no second tanh pass.
// apo:predict    1.4x..1.8x over parent: one of two tanh passes goes, and tanh is about three quarters of a step.
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 4*B*H*17*(N*V+N+V+1)
#include "e88_backward.args.h"
#include "scalar_phases.h"

namespace {

// Cached per step: S_{t-1}, k^, delta, a. One more entry for the state after the last step.
struct StatesCache {
  using Element = float;
  static constexpr int64_t kEntry = kUsed, kEntries = kSegment + 1;

  static void replay_segment(const e88_backward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps,
                             float* history) {
    float v[kV];
    load(a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kN * kV, kN * kV, history);
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t row = (b * a.T + first + s) * a.H + h;
      load(a.v + row * kV, v);
      float *S = history + s * kEntry, *k = S + kN * kV, *delta = k + kN;
      std::copy_n(static_cast<const float*>(a.unit_k) + row * kN, kN, k);
      S[kEntry - 1] = load(a.decay[row]);
      retrieve(S, k, v, delta);
      update(S, k, delta, S[kEntry - 1], S + kEntry);
    }
  }

  static void reverse_step(const e88_backward_args& a, int64_t row, const float* entry, float* dS) {
    const float *S = entry, *k = entry + kN * kV, *delta = k + kN, *S_next = S + kEntry;
    const float decay = entry[kEntry - 1];
    float slope[kN * kV], q[kN], dy[kV], d_delta[kV] = {};
    std::copy_n(static_cast<const float*>(a.unit_q) + row * kN, kN, q);
    gate_gradient(a, row, dy);
    reverse(a, row, S, S_next, k, q, delta, dy, decay, slope, d_delta, dS);
  }
};

}  // namespace

void e88_backward(const e88_backward_args& a) {
  between_norm_passes(a, [&] { all_sequences(a, [&](int64_t b, int64_t h) { run_sequence<StatesCache>(a, b, h); }); });
}
