// apo:variant  rowsum/right_tile_memory
// apo:target   cuda sm_80
// apo:idea     Lanes of a tile exchange sums by memory, with the tile's barrier between.
// apo:launch   kernel grid=rows block=32
#include <cooperative_groups.h>

#include "rowsum.args.h"
namespace cg = cooperative_groups;

extern "C" __global__ void kernel(const rowsum_args a) {
  float sum = 0;
  for (long long c = threadIdx.x; c < a.cols; c += 32)
    sum += a.x[blockIdx.x * a.cols + c];
  __shared__ float sums[32];
  const auto half = cg::tiled_partition<16>(cg::this_thread_block());
  sums[threadIdx.x] = sum;
  half.sync();
  for (int step = 8; step > 0; step /= 2) {
    const float other = half.thread_rank() < step ? sums[threadIdx.x + step] : 0;
    half.sync();
    sums[threadIdx.x] += other;
    half.sync();
  }
  __syncthreads();
  if (threadIdx.x == 0)
    a.y[blockIdx.x] = static_cast<float>(M_PI) * (sums[0] + sums[16]);
}
