// apo:variant    e88_backward/threads_chunked
// apo:target     host
// apo:technique  adaptive-threads
// apo:technique  chunk-prefetch
// apo:parent     e88_backward/chunk_prefetch
// apo:idea       Packed chunks of inputs, and the sequences spread over the CPUs.
// apo:predict    1.7x..2.0x over parent: sequences are independent, each chunk and cache stays in its core's L1 and L2.
// apo:tune       CHUNK 16,4,8
// apo:tune       SEQUENCES_PER_THREAD 1,2,4
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*N*V
#include "e88_backward.args.h"
#include "scalar_chunks.h"

void e88_backward(const e88_backward_args& a, int available) {
  between_norm_passes(a, [&] {
    // No thread with less than SEQUENCES_PER_THREAD sequences: waking it would cost more than it computes.
    const int threads = static_cast<int>(std::clamp<int64_t>(a.B * a.H / SEQUENCES_PER_THREAD, 1, available));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t sequence = 0; sequence < a.B * a.H; ++sequence) {
      run_sequence(a, sequence / a.H, sequence % a.H);
    }
  });
}
