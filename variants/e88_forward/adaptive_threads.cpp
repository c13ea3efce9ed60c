// apo:variant    e88_forward/adaptive_threads
// apo:target     host
// apo:technique  adaptive-threads
// apo:parent     e88_forward/simple
// apo:idea       Sequences (b, h) are independent, so they are spread over as many threads as B*H keeps busy.
// apo:predict    1.7x..2.0x over parent: two CPUs share the sequences, only the norm and gate passes stay serial.
// apo:tune       SEQUENCES_PER_THREAD 1,2,4
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    ungated 4*B*T*H*V
#include "e88_forward.args.h"
#include "e88_scalar.h"
#include "phases.h"

void e88_forward(const e88_forward_args& a, int available) {
  norm_pass(a);
  // No thread with less than SEQUENCES_PER_THREAD sequences: waking it would cost more than it computes.
  const int threads = static_cast<int>(std::clamp<int64_t>(a.B * a.H / SEQUENCES_PER_THREAD, 1, available));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t sequence = 0; sequence < a.B * a.H; ++sequence) {
    run_sequence(a, sequence / a.H, sequence % a.H);
  }
  gate_pass(a);
}
