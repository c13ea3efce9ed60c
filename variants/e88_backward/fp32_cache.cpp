// apo:variant    e88_backward/fp32_cache
// apo:target     host
// apo:technique  fp32-cache
// apo:parent     e88_backward/simple
// apo:idea       The segment cache keeps fp32, so nothing is rounded or converted between replay and reverse.
// apo:predict    0.97x..1.05x over parent: conversions vanish, but a segment's cache grows to 70 KB and leaves L1.
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 4*B*H*16*(N*V+N+V+1)
#include "e88_backward.args.h"
#include "scalar_phases.h"

namespace {

struct Fp32Cache {
  using Element = float;
  static constexpr int64_t kEntry = kUsed, kEntries = kSegment;

  static void replay_segment(const e88_backward_args& a, int64_t b, int64_t h, int64_t first, int64_t steps,
                             float* history) {
    float S[kN * kV], k[kN], v[kV], delta[kV];
    load(a.checkpoints + ((first / kSegment * a.B + b) * a.H + h) * kN * kV, S);
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t row = (b * a.T + first + s) * a.H + h;
      const float decay = load(a.decay[row]);
      std::copy_n(static_cast<const float*>(a.unit_k) + row * kN, kN, k);
      load(a.v + row * kV, v);
      float* entry = history + s * kEntry;
      std::copy_n(S, kN * kV, entry);
      std::copy_n(k, kN, entry + kN * kV);
      std::copy_n(v, kV, entry + kN * kV + kN);
      entry[kEntry - 1] = decay;
      retrieve(S, k, v, delta);
      update(S, k, delta, decay, S);
    }
  }

  static void reverse_step(const e88_backward_args& a, int64_t row, const float* entry, float* dS) {
    const float *S = entry, *k = entry + kN * kV, *v = k + kN;
    const float decay = entry[kEntry - 1];
    float S_next[kN * kV], slope[kN * kV], q[kN], delta[kV], dy[kV], d_delta[kV] = {};
    std::copy_n(static_cast<const float*>(a.unit_q) + row * kN, kN, q);
    gate_gradient(a, row, dy);
    retrieve(S, k, v, delta);
    update(S, k, delta, decay, S_next);
    reverse(a, row, S, S_next, k, q, delta, dy, decay, slope, d_delta, dS);
  }
};

}  // namespace

void e88_backward(const e88_backward_args& a) {
  between_norm_passes(a, [&] { all_sequences(a, [&](int64_t b, int64_t h) { run_sequence<Fp32Cache>(a, b, h); }); });
}
