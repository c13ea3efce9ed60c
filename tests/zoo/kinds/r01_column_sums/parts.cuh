// tests/zoo/kinds/r01_column_sums/parts.cuh - the sum of a block's rows in a column; clears the columns.
#include "colsum.args.h"

extern "C" __global__ void clear(const colsum_args a) {
  const long long c = 128LL * blockIdx.x + threadIdx.x;
  if (c < a.cols)
    a.y[c] = 0;
}

__device__ float sum_of_rows(const colsum_args& a, long long c) {
  float sum = 0;
  for (long long r = 64LL * blockIdx.y; r < min(a.rows, 64LL * (blockIdx.y + 1)); ++r)
    sum += a.x[r * a.cols + c];
  return sum;
}
