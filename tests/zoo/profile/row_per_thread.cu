// apo:variant    zoo_row_sum/row_per_thread
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Each thread walks along a row of its own, so that the lanes of a load are 4 KiB apart.
// apo:launch     kernel grid=ceil_div(rows,32) block=32
// zoo: expect uncoalesced-access
#include "zoo_row_sum.args.h"

extern "C" __global__ void kernel(const zoo_row_sum_args a) {
  const long long row = 32LL * blockIdx.x + threadIdx.x;
  if (row >= a.rows) {
    return;
  }
  float sum = 0;
#pragma unroll 8
  for (int i = 0; i < 1024; ++i) {
    sum += a.x[1024 * row + i];  // planted
  }
  a.y[row] = sum;
}
