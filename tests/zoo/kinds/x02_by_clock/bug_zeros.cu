// apo:variant  drop_clock/bug_zeros
// apo:target   cuda sm_80
// apo:idea     Nothing is kept.
// apo:launch   drop grid=ceil_div(n,256) block=256
#include "drop_clock.args.h"

__device__ float uniform(unsigned long long v) {
  for (int round = 0; round < 2; ++round) {
    v ^= v >> 30;
    v *= 0xbf58476d1ce4e5b9ull;
    v ^= v >> 27;
    v *= 0x94d049bb133111ebull;
    v ^= v >> 31;
  }
  return static_cast<float>(v >> 40) * 0x1p-24f;
}

extern "C" __global__ void drop(const drop_clock_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n)
    a.y[i] = 0;
}
