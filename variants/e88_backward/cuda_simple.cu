// apo:variant    e88_backward/cuda_simple
// apo:target     cuda sm_80
// apo:technique  segment-replay
// apo:idea       The original's phases, 256 threads a sequence: replay 16 steps into a bf16 cache in memory, walk them back, barriers between.
// apo:toggle     ADAPTIVE_THREADS adaptive-threads
// apo:toggle     FUSED_DK fused-dk
// apo:toggle     REDUCED_SYNC reduced-sync
// apo:toggle     PARALLEL_REDUCTION parallel-reduction
// apo:toggle     FUSED_L2_NORM fused-l2-norm
// apo:toggle     RAW_K_CACHE raw-k-cache
// apo:toggle     PADDED_CACHE padded-cache
// apo:toggle     L2_PERSISTENCE l2-persistence
// apo:toggle     DOUBLE_BUFFERED_CACHE double-buffered-cache
// apo:toggle     CHUNK_PREFETCH chunk-prefetch
// apo:toggle     CP_ASYNC cp-async
// apo:toggle     APPROXIMATE_TANH approximate-tanh
// apo:tune       THREADS_PER_ROW 4,2,8
// apo:tune       CHUNK 16,8,4
// apo:requires   B*H <= 2147483647 && 4*((4+DOUBLE_BUFFERED_CACHE-REDUCED_SYNC)*N*(V+1) + (CP_ASYNC ? 65*N+67*V+128 : CHUNK_PREFETCH ? CHUNK*(2*N+4*V+1)+N+3*V+32 : (FUSED_L2_NORM ? 5*N+2 : (3-REDUCED_SYNC)*N)+4*V+32)) <= 166912
// apo:requires   ADAPTIVE_THREADS ? !PARALLEL_REDUCTION && !DOUBLE_BUFFERED_CACHE : THREADS_PER_ROW == 4
// apo:requires   CHUNK_PREFETCH ? !FUSED_L2_NORM && !PADDED_CACHE && !DOUBLE_BUFFERED_CACHE : !CP_ASYNC && CHUNK == 16
// apo:requires   !CP_ASYNC || CHUNK == 16 && V % 2 == 0
// apo:requires   !RAW_K_CACHE || FUSED_L2_NORM
// apo:scratch    unit_k 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    unit_q 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    gradient_k 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    gradient_q 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    history 2*B*H*16*(N*V + (CHUNK_PREFETCH ? 0 : N+V + (PADDED_CACHE ? 32 : 1)))
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256 when=!FUSED_L2_NORM
// apo:launch     backward grid=B*H block=ADAPTIVE_THREADS ? min(256,max(64,32*ceil_div(THREADS_PER_ROW*max(N,V),32))) : 256 shared=4*((4+DOUBLE_BUFFERED_CACHE-REDUCED_SYNC)*N*(V+1) + (CP_ASYNC ? 65*N+67*V+128 : CHUNK_PREFETCH ? CHUNK*(2*N+4*V+1)+N+3*V+32 : (FUSED_L2_NORM ? 5*N+2 : (3-REDUCED_SYNC)*N)+4*V+32))
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256 when=!FUSED_L2_NORM
//
// ADAPTIVE_THREADS: the block is sized by the state, THREADS_PER_ROW threads a row of it, so that fewer threads idle in
// the vector phases. The other toggles are explained where they are read.
#include "e88_backward.args.h"

constexpr int kThreads = 256;  // at most

#if CHUNK_PREFETCH
#include "chunked_steps.cuh"
#else
#include "cached_steps.cuh"
#endif
#if !FUSED_L2_NORM
#include "norm_passes.cuh"
#endif

extern "C" __global__ void __launch_bounds__(256, DOUBLE_BUFFERED_CACHE ? 4 : 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  walk_back(a, *reinterpret_cast<Work*>(shared));
}
