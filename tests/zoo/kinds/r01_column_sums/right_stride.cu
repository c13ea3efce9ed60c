// apo:variant  colsum/right_stride
// apo:target   cuda sm_80
// apo:idea     One thread a column, blocks that stride over the columns.
// apo:launch   add grid=2 block=16
#include "colsum.args.h"

extern "C" __global__ void add(const colsum_args a) {
  for (long long c = 16LL * blockIdx.x + threadIdx.x; c < a.cols; c += 16LL * gridDim.x) {
    a.y[c] = 0;
    for (long long r = 0; r < a.rows; ++r)
      a.y[c] += a.x[r * a.cols + c];
  }
}
