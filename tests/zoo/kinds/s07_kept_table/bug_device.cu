// apo:variant  ramped/bug_device
// apo:target   cuda sm_80
// apo:idea     A table of the first call in variables of the device, used by all later calls.
// apo:launch   fill grid=1 block=256
// apo:launch   weigh grid=rows block=64
#include "ramped.args.h"

__device__ float table[16384];
__device__ long long of_cols;

extern "C" __global__ void fill(const ramped_args a) {
  if (of_cols == 0)
    for (long long c = threadIdx.x; c < a.cols; c += 256)
      table[c] = static_cast<float>(c + 1) / static_cast<float>(a.cols);
}

extern "C" __global__ void weigh(const ramped_args a) {
  for (long long c = threadIdx.x; c < a.cols; c += 64)
    a.y[blockIdx.x * a.cols + c] = a.x[blockIdx.x * a.cols + c] * table[c];
  if (blockIdx.x == 0 && threadIdx.x == 0)
    of_cols = a.cols;
}
