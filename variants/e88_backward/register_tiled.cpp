// apo:variant    e88_backward/register_tiled
// apo:target     host
// apo:technique  column-vectorised
// apo:technique  reused-state
// apo:technique  register-tiled
// apo:technique  fused-l2-norm
// apo:technique  chunk-prefetch
// apo:parent     e88_backward/column_vectorised_reused
// apo:idea       Partial sums of ROWS rows stay in registers; one transposing sum yields whole vectors of dk and dq.
// apo:predict    1.2x..1.7x over parent: five walks over S become three, 64 lane sums a step 4 trees of additions.
// apo:tune       ROWS 4,2,8
// apo:tune       LANES 0,8,16
// apo:scratch    history 4*B*H*17*N*(V+15)
#include "e88_backward.args.h"
#include "tiled_phases.h"

void e88_backward(const e88_backward_args& a) {
  auto* history = static_cast<State*>(a.history);
  for (int64_t sequence = 0; sequence < a.B * a.H; ++sequence) {
    run_sequence<tanh>(a, sequence, history);
  }
}
