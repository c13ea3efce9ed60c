// apo:variant    zoo_copy/occupancy_registers
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       A thread holds so many values that an SM has room for one block.
// apo:launch     kernel grid=4*SMS block=256
// zoo: expect low-occupancy
#include "zoo_copy.args.h"

extern "C" __global__ void __launch_bounds__(256, 1) kernel(const zoo_copy_args a) {
  float kept[200];
#pragma unroll
  for (int j = 0; j < 200; ++j) {
    kept[j] = a.x[8 * j + threadIdx.x % 32];
  }
  float last = 0;
#pragma unroll 1
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < a.n; i += 256LL * gridDim.x) {
    last = a.x[i];
    a.y[i] = last;
  }
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 200; ++j) {
    sum = fmaf(sum, last, kept[j]);  // needs the last value, so that none can be used up before
  }
  if (sum == 12345.5f) {  // never: 200 values below 1
    a.y[0] = sum;
  }
}
