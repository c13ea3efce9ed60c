// apo:variant    zoo_copy/sleeping
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Waits for a fixed time before each element.
// apo:launch     kernel grid=ceil_div(n,4096) block=256
// zoo: expect sleeping-warps
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long first = 4096LL * blockIdx.x + threadIdx.x;
#pragma unroll 1
  for (int j = 0; j < 16; ++j) {
    __nanosleep(2000);  // planted
    if (first + 256 * j < a.n) {
      a.y[first + 256 * j] = a.x[first + 256 * j];
    }
  }
}
