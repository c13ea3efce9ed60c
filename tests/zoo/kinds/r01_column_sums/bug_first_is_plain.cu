// apo:variant  colsum/bug_first_is_plain
// apo:target   cuda sm_80
// apo:idea     The first block stores what the others add by atomics.
// apo:launch   clear grid=ceil_div(cols,128) block=128
// apo:launch   add grid=ceil_div(cols,32),ceil_div(rows,64) block=32
#include "parts.cuh"

extern "C" __global__ void add(const colsum_args a) {
  const long long c = 32LL * blockIdx.x + threadIdx.x;
  if (c >= a.cols)
    return;
  const float sum = sum_of_rows(a, c);
  if (blockIdx.y == 0) {
    a.y[c] = sum;
  } else {
    atomicAdd(&a.y[c], sum);
  }
}
