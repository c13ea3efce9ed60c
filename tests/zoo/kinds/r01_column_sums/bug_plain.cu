// apo:variant  colsum/bug_plain
// apo:target   cuda sm_80
// apo:idea     Blocks of rows add to a column without an atomic.
// apo:launch   clear grid=ceil_div(cols,128) block=128
// apo:launch   add grid=ceil_div(cols,32),ceil_div(rows,64) block=32
#include "colsum.args.h"

extern "C" __global__ void clear(const colsum_args a) {
  const long long c = 128LL * blockIdx.x + threadIdx.x;
  if (c < a.cols)
    a.y[c] = 0;
}

extern "C" __global__ void add(const colsum_args a) {
  const long long c = 32LL * blockIdx.x + threadIdx.x;
  if (c >= a.cols)
    return;
  float sum = 0;
  for (long long r = 64LL * blockIdx.y; r < min(a.rows, 64LL * (blockIdx.y + 1)); ++r)
    sum += a.x[r * a.cols + c];
  a.y[c] += sum;
}
