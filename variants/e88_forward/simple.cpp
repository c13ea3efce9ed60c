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

void e88_forward(const e88_forward_args& a) {
  norm_pass(a);
  all_sequences(a, [&](int64_t b, int64_t h) { run_sequence(a, b, h); });
  gate_pass(a);
}
