// apo:variant    e88_backward/cuda_adaptive_threads
// apo:target     cuda sm_80
// apo:technique  adaptive-threads
// apo:parent     cuda_simple
// apo:idea       The block is sized by the state, THREADS_PER_ROW threads a row of it, so that fewer threads idle in the vector phases.
// apo:predict    1.05x..1.3x over parent: at N=32 a block of 128 waits on half as many warps at each barrier.
// apo:requires   B*H <= 2147483647 && 16*N*(V+1)+12*N+16*V+128 <= 166912
// apo:tune       THREADS_PER_ROW 4,2,8
// apo:scratch    unit_k 4*B*T*H*N
// apo:scratch    unit_q 4*B*T*H*N
// apo:scratch    gradient_k 4*B*T*H*N
// apo:scratch    gradient_q 4*B*T*H*N
// apo:scratch    history 2*B*H*16*(N*V+N+V+1)
// apo:launch     normalise grid=min(ceil_div(B*T*H,8),32*SMS) block=256
// apo:launch     backward grid=B*H block=min(256,max(64,32*ceil_div(THREADS_PER_ROW*max(N,V),32))) shared=4*(4*N*(V+1)+3*N+4*V+32)
// apo:launch     chain_rule grid=min(ceil_div(B*T*H,8),32*SMS) block=256
#include "e88_backward.args.h"
#include "norm_passes.cuh"
#include "phases.cuh"

extern "C" __global__ void __launch_bounds__(256, 6) backward(const e88_backward_args a) {
  extern __shared__ float shared[];
  backward_by_phases(a, *reinterpret_cast<SimpleWork*>(shared));
}
