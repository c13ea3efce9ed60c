// apo:variant    e88_forward/simple
// apo:target     host
// apo:technique  stepwise-recurrence
// apo:idea       The original's phases in plain scalar code: a norm pass, one step at a time, and a gate pass.
// apo:toggle     COLUMN_VECTORISED column-vectorised
// apo:toggle     ADAPTIVE_THREADS adaptive-threads
// apo:toggle     CHUNK_PREFETCH chunk-prefetch
// apo:toggle     FUSED_L2_NORM fused-l2-norm
// apo:toggle     FUSED_GATE fused-gate
// apo:tune       LANES 0,8,16
// apo:tune       SEQUENCES_PER_THREAD 1,2,4
// apo:tune       CHUNK 16,4,8
// apo:requires   COLUMN_VECTORISED || LANES == 0
// apo:requires   ADAPTIVE_THREADS || SEQUENCES_PER_THREAD == 1
// apo:requires   CHUNK_PREFETCH || CHUNK == 16
// apo:scratch    unit_k 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    unit_q 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    ungated 4*B*T*H*V when=!FUSED_GATE
#include "e88_forward.args.h"
// COLUMN_VECTORISED: a SIMD lane owns a column of S: no shuffles in the recurrence, and tanh of whole vectors.
#if COLUMN_VECTORISED
#include "e88_vector.h"
#else
#include "e88_scalar.h"
#endif
#include "phases.h"

#if ADAPTIVE_THREADS
// Sequences (b, h) are independent, so they are spread over as many threads as B*H keeps busy.
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
#else
void e88_forward(const e88_forward_args& a) {
  norm_pass(a);
  all_sequences(a, [&](int64_t b, int64_t h) { run_sequence(a, b, h); });
  gate_pass(a);
}
#endif
