// apo:variant  colsum/right_atomic
// apo:target   cuda sm_80
// apo:idea     Blocks of rows add to a column by atomics.
// apo:launch   clear grid=ceil_div(cols,128) block=128
// apo:launch   add grid=ceil_div(cols,32),ceil_div(rows,64) block=32
#include "parts.cuh"

extern "C" __global__ void add(const colsum_args a) {
  const long long c = 32LL * blockIdx.x + threadIdx.x;
  if (c >= a.cols)
    return;
  const float sum = sum_of_rows(a, c);
  atomicAdd(&a.y[c], sum);
}
