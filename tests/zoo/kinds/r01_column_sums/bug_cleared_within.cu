// apo:variant  colsum/bug_cleared_within
// apo:target   cuda sm_80
// apo:idea     The first block of rows clears the column, and does not make the others wait.
// apo:launch   add grid=ceil_div(cols,32),ceil_div(rows,64) block=32
#include "colsum.args.h"

extern "C" __global__ void add(const colsum_args a) {
  const long long c = 32LL * blockIdx.x + threadIdx.x;
  if (blockIdx.y == 0 && c < a.cols)
    a.y[c] = 0;
  __syncthreads();
  if (c >= a.cols)
    return;
  float sum = 0;
  for (long long r = 64LL * blockIdx.y; r < min(a.rows, 64LL * (blockIdx.y + 1)); ++r)
    sum += a.x[r * a.cols + c];
  atomicAdd(&a.y[c], sum);
}
