// apo:variant  ramped/right_device
// apo:target   cuda sm_80
// apo:idea     A table in variables of the device, made anew for other columns.
// apo:launch   fill grid=1 block=256
// apo:launch   weigh grid=rows block=64
#include "ramped.args.h"

__device__ float table[16384];
__device__ long long of_cols;

extern "C" __global__ void fill(const ramped_args a) {
  if (of_cols != a.cols)
    for (long long c = threadIdx.x; c < a.cols; c += 256)
      table[c] = static_cast<float>(c + 1) / static_cast<float>(a.cols);
}

extern "C" __global__ void weigh(const ramped_args a) {
  for (long long c = threadIdx.x; c < a.cols; c += 64)
    a.y[blockIdx.x * a.cols + c] = a.x[blockIdx.x * a.cols + c] * table[c];
  if (blockIdx.x == 0 && threadIdx.x == 0)
    of_cols = a.cols;
}
