// apo:variant    zoo_copy/idle_lanes
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       One lane of four does the work of its neighbours.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect idle-lanes
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (threadIdx.x % 4 != 0) {
    return;
  }
#pragma unroll 1
  for (long long at = i; at < min(i + 4, a.n); ++at) {
    float value = a.x[at];
#pragma unroll 4
    for (int step = 0; step < 1024; ++step) {
      value = fmaf(value, 0.5f, 0.25f);
    }
    a.y[at] = fmaf(0.0f, value, a.x[at]);
  }
}
