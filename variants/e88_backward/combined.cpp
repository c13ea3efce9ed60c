// apo:variant    e88_backward/combined
// apo:target     host
// apo:technique  adaptive-threads
// apo:technique  column-vectorised
// apo:technique  reused-state
// apo:technique  register-tiled
// apo:technique  fused-l2-norm
// apo:technique  chunk-prefetch
// apo:parent     e88_backward/register_tiled
// apo:idea       Everything that paid: tiled columns, carried states, packed segments, sequences over the CPUs.
// apo:predict    1.7x..2.0x over parent: two CPUs share the sequences; waking a thread costs some 5 of 300 us.
// apo:tune       ROWS 4,2,8
// apo:tune       SEQUENCES_PER_THREAD 1,2,4
// apo:tune       LANES 0,8,16
// apo:scratch    history 4*B*H*17*N*(V+15)
#include <omp.h>

#include "e88_backward.args.h"
#include "tiled_phases.h"

void e88_backward(const e88_backward_args& a, int available) {
  auto* history = static_cast<State*>(a.history);
  const int threads = static_cast<int>(std::clamp<int64_t>(a.B * a.H / SEQUENCES_PER_THREAD, 1, available));
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int64_t sequence = 0; sequence < a.B * a.H; ++sequence) {
    run_sequence<tanh>(a, sequence, history + omp_get_thread_num() * (kSegment + 1));
  }
}
