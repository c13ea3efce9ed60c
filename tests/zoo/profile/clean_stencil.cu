// apo:variant    zoo_stencil/clean_stencil
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Four elements a thread, each with its neighbours, which come from the L1.
// apo:launch     kernel grid=ceil_div(n,1024) block=256
// zoo: expect none
#include "zoo_stencil.args.h"

extern "C" __global__ void kernel(const zoo_stencil_args a) {
  const long long first = 1024LL * blockIdx.x + threadIdx.x;
  float sums[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const long long i = first + 256 * j;
    sums[j] = 0.25f * a.x[max(i - 1, 0LL)] + 0.5f * a.x[i] + 0.25f * a.x[min(i + 1, a.n - 1)];
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    a.y[first + 256 * j] = sums[j];
  }
}
