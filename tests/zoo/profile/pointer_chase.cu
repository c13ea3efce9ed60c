// apo:variant    zoo_copy/pointer_chase
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       The address of each row comes from the row before, and nothing else is under way.
// apo:requires   n == 16777216 || n == 1048576 || n == 4096
// apo:launch     kernel grid=3*SMS block=256
// zoo: expect memory-latency-stalls
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned rows = static_cast<unsigned>(a.n / 32);  // a power of two
#pragma unroll 1
  for (unsigned row = (256 * blockIdx.x + threadIdx.x) / 32; row < rows; row += 8 * gridDim.x) {
    unsigned at = row;
    float sum = 0;
#pragma unroll 1
    for (int step = 0; step < 4; ++step) {
      const float value = a.x[32 * at + lane];
      sum += value;
      at = (__float_as_uint(__shfl_sync(0xffffffffu, value, 0)) * 2654435761u >> 5) & (rows - 1);  // planted
    }
    a.y[32 * row + lane] = fmaf(0.0f, sum, a.x[32 * row + lane]);
  }
}
