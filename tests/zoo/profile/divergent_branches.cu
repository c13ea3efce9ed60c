// apo:variant    zoo_copy/divergent_branches
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Each bit of the element sends its lane one of two ways.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect divergent-branches
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= a.n) {
    return;
  }
  const unsigned bits = __float_as_uint(a.x[i]);
  float value = a.x[i];
#pragma unroll 1
  for (int turn = 0; turn < 16; ++turn) {
    if (bits >> turn & 1) {  // planted
#pragma unroll
      for (int step = 0; step < 64; ++step) {
        value = fmaf(value, 0.5f, 0.25f);
      }
    } else {
#pragma unroll
      for (int step = 0; step < 64; ++step) {
        value = value * value - 0.75f;
      }
    }
  }
  a.y[i] = fmaf(0.0f, fminf(1.0f, fmaxf(-1.0f, value)), a.x[i]);
}
