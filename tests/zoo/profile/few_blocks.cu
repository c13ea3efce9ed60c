// apo:variant    zoo_copy/few_blocks
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Thirty-two blocks, whatever the GPU has.
// apo:launch     kernel grid=32 block=1024
// zoo: expect idle-sms
// zoo: workload n1m
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
#pragma unroll 1
  for (long long i = 1024LL * blockIdx.x + threadIdx.x; i < a.n; i += 1024LL * gridDim.x) {
    float value = a.x[i];
#pragma unroll 16
    for (int step = 0; step < 256; ++step) {
      value = fmaf(value, 0.5f, 0.25f);
    }
    a.y[i] = fmaf(0.0f, value, a.x[i]);
  }
}
