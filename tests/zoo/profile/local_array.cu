// apo:variant    zoo_copy/local_array
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       An array of a thread is indexed with what only the run knows, so that it lies in memory.
// apo:launch     kernel grid=ceil_div(n,4096) block=256
// zoo: expect local-array
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long first = 4096LL * blockIdx.x + threadIdx.x;
  float values[16];
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    values[j] = a.x[first + 256 * j];
  }
  unsigned at = __float_as_uint(values[0]);
  float sum = 0;
#pragma unroll 4
  for (int step = 0; step < 128; ++step) {
    sum += values[at % 16];  // planted
    at = at * 1664525u + 1013904223u;
  }
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    a.y[first + 256 * j] = fmaf(0.0f, sum, values[j]);
  }
}
