// apo:variant    e88_forward/simple
// apo:target     host
// apo:technique  stepwise-recurrence
// apo:idea       The original's phases in plain scalar code: a norm pass, one step at a time, and a gate pass.
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    ungated 4*B*T*H*V
#include "e88_forward.args.h"
#include "e88_scalar.h"
#include "phases.h"

APO_EXPORT uint32_t apo_abi(void) {
  return APO_ABI_VERSION;
}

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& a = *static_cast<const e88_forward_args*>(call->arguments);
  const int64_t rows = a.B * a.T * a.H;
  normalise(a.k, rows, static_cast<float*>(a.unit_k));
  normalise(a.q, rows, static_cast<float*>(a.unit_q));
  for (int64_t b = 0; b < a.B; ++b) {
    for (int64_t h = 0; h < a.H; ++h) {
      run_sequence(a, b, h);
    }
  }
  gate(static_cast<const float*>(a.ungated), a.g, rows * kV, a.output);
  return 0;
}
