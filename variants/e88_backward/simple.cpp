// apo:variant    e88_backward/simple
// apo:target     host
// apo:technique  segment-replay
// apo:idea       The original's phases in plain scalar code: replay 16 steps into a bf16 cache, then walk them back.
// apo:toggle     ADAPTIVE_THREADS adaptive-threads
// apo:toggle     CHUNK_PREFETCH chunk-prefetch
// apo:toggle     FP32_CACHE fp32-cache
// apo:toggle     REUSED_STATE reused-state
// apo:toggle     PADDED_CACHE padded-cache
// apo:toggle     FUSED_DK fused-dk
// apo:toggle     FUSED_L2_NORM fused-l2-norm
// apo:tune       SEQUENCES_PER_THREAD 1,2,4
// apo:tune       CHUNK 16,4,8
// apo:requires   ADAPTIVE_THREADS || SEQUENCES_PER_THREAD == 1
// apo:requires   CHUNK_PREFETCH ? !FP32_CACHE && !PADDED_CACHE && !FUSED_L2_NORM : CHUNK == 16
// apo:requires   FP32_CACHE ? !PADDED_CACHE : !REUSED_STATE
// apo:scratch    unit_k 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    unit_q 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    gradient_k 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    gradient_q 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    history (FP32_CACHE ? 4 : 2)*B*H*(REUSED_STATE ? 17 : 16)*(N*V + (CHUNK_PREFETCH ? 0 : N+V + (PADDED_CACHE ? 32 : 1)))
#include "e88_backward.args.h"
#if CHUNK_PREFETCH
#include "scalar_chunks.h"
#else
#include "scalar_cache.h"
#endif

#if ADAPTIVE_THREADS
// Sequences (b, h) are independent, so they are spread over as many threads as B*H keeps busy.
void e88_backward(const e88_backward_args& a, int available) {
  between_norm_passes(a, [&] {
    // No thread with less than SEQUENCES_PER_THREAD sequences: waking it would cost more than it computes.
    const int threads = static_cast<int>(std::clamp<int64_t>(a.B * a.H / SEQUENCES_PER_THREAD, 1, available));
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t sequence = 0; sequence < a.B * a.H; ++sequence) {
      run(a, sequence / a.H, sequence % a.H);
    }
  });
}
#elif FUSED_L2_NORM
void e88_backward(const e88_backward_args& a) {
  all_sequences(a, [&](int64_t b, int64_t h) { run(a, b, h); });
}
#else
void e88_backward(const e88_backward_args& a) {
  between_norm_passes(a, [&] { all_sequences(a, [&](int64_t b, int64_t h) { run(a, b, h); }); });
}
#endif
