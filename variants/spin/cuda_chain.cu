// apo:variant    spin/cuda_chain
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread a chain of dependent steps, and then EXTRA thousandths of it more, which change nothing.
// apo:tune       EXTRA 0,1,2,3,5,10,20,50
// apo:launch     spin_chains grid=ceil_div(n,128) block=128
#include "spin.args.h"

__device__ __forceinline__ unsigned walk(unsigned state, long long steps) {
#pragma unroll 1
  for (long long i = 0; i < steps; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
  return state;
}

extern "C" __global__ void spin_chains(const spin_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    const unsigned end = walk(static_cast<unsigned>(a.x[i]), a.steps);
    // No state but 0 leads to 0, which no compiler knows: the extra steps have to be taken.
    const bool kept = walk(end, a.steps * EXTRA / 1000) != 0;
    a.y[i] = kept ? static_cast<float>(end >> 8) : -1.0f;
  }
}
