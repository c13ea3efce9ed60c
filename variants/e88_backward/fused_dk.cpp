// apo:variant    e88_backward/fused_dk
// apo:target     host
// apo:technique  fused-dk
// apo:parent     e88_backward/simple
// apo:idea       Both terms of dk are summed in one pass over the rows, which reads S and dS side by side.
// apo:predict    1.0x..1.1x over parent: one of four scalar reductions goes, but tanh takes most of a step.
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
#include "e88_backward.args.h"
#include "scalar_phases.h"

namespace {

// dk = dS delta - S d_delta
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

struct Cache : Bf16Cache<kUsed> {
  static void reverse_step(const e88_backward_args& a, int64_t row, const uint16_t* entry, float* dS) {
    float S[kN * kV], S_next[kN * kV], slope[kN * kV], k[kN], q[kN], v[kV], delta[kV], dy[kV], d_delta[kV] = {};
    const float decay = read(entry, S, k, v);
    std::copy_n(static_cast<const float*>(a.unit_q) + row * kN, kN, q);
    gate_gradient(a, row, dy);
    retrieve(S, k, v, delta);
    update(S, k, delta, decay, S_next);

    differentiate_tanh(S_next, slope);
    float* dq = static_cast<float*>(a.gradient_q) + row * kN;
    multiply(S_next, dy, dq);
    pass_tanh(q, dy, slope, dS);
    add_transposed_product(dS, k, d_delta);
    float* dk = static_cast<float*>(a.gradient_k) + row * kN;
    sum_both_terms(dS, delta, S, d_delta, dk);
    const float d_decay = dot(dS, S);
    pass_update(k, d_delta, decay, dS);
    store(d_delta, a.dv + row * kV);
    a.ddecay[row] = store(d_decay);
  }
};

}  // namespace

void e88_backward(const e88_backward_args& a) {
  between_norm_passes(a, [&] { all_sequences(a, [&](int64_t b, int64_t h) { run_sequence<Cache>(a, b, h); }); });
}
