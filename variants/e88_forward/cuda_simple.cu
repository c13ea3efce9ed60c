// apo:variant    e88_forward/cuda_simple
// apo:target     cuda sm_80
// apo:technique  stepwise-recurrence
// apo:idea       The original's phases, THREADS threads a sequence: a norm pass, one step at a time with barriers between its phases, a gate pass.
// apo:toggle     CHUNK_PREFETCH chunk-prefetch
// apo:toggle     CP_ASYNC cp-async
// apo:toggle     FUSED_L2_NORM fused-l2-norm
// apo:toggle     FUSED_GATE fused-gate
// apo:toggle     APPROXIMATE_TANH approximate-tanh
// apo:toggle     PARALLEL_REDUCTION parallel-reduction
// apo:tune       CHUNK 16,8,4,32
// apo:tune       THREADS 256,128,64,512
// apo:tune       BLOCKS_PER_SM 6,3,1
// apo:requires   B*H <= 2147483647
// apo:requires   !CHUNK_PREFETCH || CP_ASYNC || 4*(N*(V+1)+CHUNK*(2*N+V+1)+V) <= SHARED_MAX
// apo:requires   CHUNK_PREFETCH ? !FUSED_L2_NORM : !CP_ASYNC && CHUNK == 16
// apo:requires   !CP_ASYNC || CHUNK == 16 && V % 2 == 0
// apo:requires   THREADS*BLOCKS_PER_SM <= 2048 && (!PARALLEL_REDUCTION || max(N,V) <= THREADS)
// apo:scratch    unit_k 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    unit_q 4*B*T*H*N when=!FUSED_L2_NORM
// apo:scratch    ungated 4*B*T*H*V when=!FUSED_GATE
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256 when=!FUSED_L2_NORM
// apo:launch     forward grid=B*H block=THREADS shared=4*(N*(V+1) + (CP_ASYNC ? 64*N+17*V+64 : CHUNK_PREFETCH ? CHUNK*(2*N+V+1)+V : 2*N+2*V))
// apo:launch     gate grid=min(ceil_div(B*T*H*V,256),32*SMS) block=256 when=!FUSED_GATE
#include "e88_forward.args.h"

constexpr int kThreads = THREADS;

#if CHUNK_PREFETCH
#include "chunked_steps.cuh"
#else
#include "single_steps.cuh"
#endif

#if !FUSED_L2_NORM
extern "C" __global__ void normalise(const e88_forward_args a) {
  normalise_all(a);
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM) forward(const e88_forward_args a) {
  extern __shared__ float shared[];
  walk(a, *reinterpret_cast<Work*>(shared));
}

// output = y * silu(g), a pass of its own over memory
#if !FUSED_GATE
extern "C" __global__ void gate(const e88_forward_args a) {
  const long long count = a.B * a.T * a.H * kColumns;
  for (long long at = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; at < count;
       at += gridDim.x * static_cast<long long>(blockDim.x)) {
    const float y = static_cast<const float*>(a.ungated)[at], g = load(a.g[at]);
    a.output[at] = store(gated(y, g));
  }
}
#endif
