// apo:variant    spin/cuda_chain
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread a chain of dependent steps, and then EXTRA thousandths of it more, which change nothing.
// apo:tune       EXTRA 0,1,2,3,5,10,20,50
// apo:launch     spin_chains grid=ceil_div(n,128) block=128
#include "spin.args.h"

// Not a number in the code: the code is the same for every EXTRA, and what is different is the count alone.
__constant__ int extra = EXTRA;

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
    unsigned state = static_cast<unsigned>(a.x[i]);
    unsigned end = 0;
    // One loop for both parts, so that a step takes as long in either.
#pragma unroll 1
    for (int part = 0; part < 2; ++part) {
      state = walk(state, part == 0 ? a.steps : a.steps * extra / 1000);
      end = part == 0 ? state : end;
    }
    // No state but 0 leads to 0, which no compiler knows: the extra steps have to be taken.
    a.y[i] = state != 0 ? static_cast<float>(end >> 8) : -1.0f;
  }
}
