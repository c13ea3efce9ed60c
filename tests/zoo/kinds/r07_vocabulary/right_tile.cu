// apo:variant  rowsum/right_tile
// apo:target   cuda sm_80
// apo:idea     A tile of a warp adds.
// apo:launch   kernel grid=rows block=32
#include <cooperative_groups.h>

#include "rowsum.args.h"
namespace cg = cooperative_groups;

extern "C" __global__ void kernel(const rowsum_args a) {
  float sum = 0;
  for (long long c = threadIdx.x; c < a.cols; c += 32)
    sum += a.x[blockIdx.x * a.cols + c];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  for (int step = warp.size() / 2; step > 0; step /= 2)
    sum += warp.shfl_down(sum, step);
  if (warp.thread_rank() == 0)
    a.y[blockIdx.x] = static_cast<float>(M_PI) * sum;
}
