// apo:variant    zoo_copy/tail_of_a_wave
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Four blocks more than the SMs can hold at once.
// apo:launch     kernel grid=SMS+4 block=1024 shared=122880
// zoo: expect tail-wave
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long each = (a.n + gridDim.x - 1) / gridDim.x;
  const long long end = min(a.n, each * (blockIdx.x + 1));
#pragma unroll 1
  for (long long i = each * blockIdx.x + threadIdx.x; i < end; i += 1024) {
    float value = a.x[i];
#pragma unroll 16
    for (int step = 0; step < 2048; ++step) {
      value = fmaf(value, 0.5f, 0.25f);
    }
    a.y[i] = fmaf(0.0f, value, a.x[i]);
  }
}
