// apo:variant    e88_forward/column_vectorised
// apo:target     host
// apo:technique  column-vectorised
// apo:parent     e88_forward/simple
// apo:idea       A SIMD lane owns a column of S: no shuffles in the recurrence, and tanh of whole vectors.
// apo:predict    15x..30x over parent: tanh falls from some 12 ns an element to a share of a 16-lane division.
// apo:tune       LANES 0,8,16
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    ungated 4*B*T*H*V
#include "e88_forward.args.h"
#include "e88_vector.h"
#include "phases.h"

void e88_forward(const e88_forward_args& a) {
  norm_pass(a);
  all_sequences(a, [&](int64_t b, int64_t h) { run_sequence(a, b, h); });
  gate_pass(a);
}
