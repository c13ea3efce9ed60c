// apo:variant  row_squares/right_heavy_block
// apo:target   cuda sm_80
// apo:idea     Block 47 works four times as long, and writes what the others write.
// apo:launch   squares grid=rows block=32
#include "row_squares.args.h"

extern "C" __global__ void squares(const row_squares_args a) {
  const long long r = blockIdx.x;
  float total = 0;
  for (long long c = threadIdx.x; c < a.cols; c += 32)
    total += a.x[r * a.cols + c] * a.x[r * a.cols + c];
  for (int lanes = 16; lanes > 0; lanes /= 2)
    total += __shfl_down_sync(0xffffffffu, total, lanes);
  for (int again = 0; r == 47 && again < 3; ++again) {
    if (threadIdx.x == 0)
      a.y[r] = 0;
    __syncwarp();
  }
  if (threadIdx.x == 0)
    a.y[r] = total;
}
