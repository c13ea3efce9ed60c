// apo:variant    e88_backward/chunk_prefetch
// apo:target     host
// apo:technique  chunk-prefetch
// apo:parent     e88_backward/simple
// apo:idea       The inputs of CHUNK steps are converted and packed at once; the recurrence reads fp32 from L1.
// apo:predict    1.0x..1.08x over parent: loads and conversions are 10 (N+V) of 16 N V operations and 2 N V tanh.
// apo:tune       CHUNK 16,4,8
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*N*V
#include "e88_backward.args.h"
#include "scalar_chunks.h"

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& a = *static_cast<const e88_backward_args*>(call->arguments);
  const int64_t rows = a.B * a.T * a.H;
  auto* unit_k = static_cast<float*>(a.unit_k);
  auto* unit_q = static_cast<float*>(a.unit_q);
  normalise(a.k, rows, unit_k);
  normalise(a.q, rows, unit_q);
  for (int64_t b = 0; b < a.B; ++b) {
    for (int64_t h = 0; h < a.H; ++h) {
      run_sequence(a, b, h);
    }
  }
  chain_rule(a.k, unit_k, static_cast<const float*>(a.gradient_k), rows, a.dk);
  chain_rule(a.q, unit_q, static_cast<const float*>(a.gradient_q), rows, a.dq);
  return 0;
}
