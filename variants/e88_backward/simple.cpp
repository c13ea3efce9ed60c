// apo:variant    e88_backward/simple
// apo:target     host
// apo:technique  segment-replay
// apo:idea       The original's phases in plain scalar code: replay 16 steps into a bf16 cache, then walk them back.
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
#include "e88_backward.args.h"
#include "scalar_phases.h"

using Cache = Bf16Cache<kUsed>;

void e88_backward(const e88_backward_args& a) {
  between_norm_passes(a, [&] { all_sequences(a, [&](int64_t b, int64_t h) { run_sequence<Cache>(a, b, h); }); });
}
