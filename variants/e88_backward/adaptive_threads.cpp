// apo:variant    e88_backward/adaptive_threads
// apo:target     host
// apo:technique  adaptive-threads
// apo:parent     e88_backward/simple
// apo:idea       Sequences (b, h) are independent, so they are spread over as many threads as B*H keeps busy.
// apo:predict    1.7x..2.0x over parent: two CPUs share the sequences, only the norm passes stay serial.
// apo:tune       SEQUENCES_PER_THREAD 1,2,4
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
#include "e88_backward.args.h"
#include "scalar_phases.h"

void e88_backward(const e88_backward_args& a, int available) {
  between_norm_passes(a, [&] {
    // No thread with less than SEQUENCES_PER_THREAD sequences: waking it would cost more than it computes.
    const int threads = static_cast<int>(std::clamp<int64_t>(a.B * a.H / SEQUENCES_PER_THREAD, 1, available));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t sequence = 0; sequence < a.B * a.H; ++sequence) {
      run_sequence<Bf16Cache<kUsed>>(a, sequence / a.H, sequence % a.H);
    }
  });
}
