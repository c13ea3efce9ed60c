// apo:variant  rowsum/right_tile_parameter
// apo:target   cuda sm_80
// apo:idea     A function takes the tile.
// apo:launch   kernel grid=rows block=32
#include <cooperative_groups.h>

#include "rowsum.args.h"
namespace cg = cooperative_groups;

__device__ float sum_of(cg::thread_block_tile<32>& warp, float value) {
  for (int step = warp.size() / 2; step > 0; step /= 2)
    value += warp.shfl_xor(value, step);
  return value;
}
__device__ float product(const cg::thread_block_tile<32> warp, float value) {
  return warp.shfl(static_cast<float>(M_PI) * value, 0);
}

extern "C" __global__ void kernel(const rowsum_args a) {
  float sum = 0;
  for (long long c = threadIdx.x; c < a.cols; c += 32)
    sum += a.x[blockIdx.x * a.cols + c];
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  sum = product(warp, sum_of(warp, sum));
  if (warp.thread_rank() == 0)
    a.y[blockIdx.x] = sum;
}
