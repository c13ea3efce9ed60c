// apo:variant    copy/grid_sync_in_branch
// apo:target     cuda sm_80
// apo:idea       A block without elements ends before the grid's barrier.
// apo:launch     kernel grid=8 block=64 cooperative=1
// zoo: expect incorrect; guard executor; evidence barrier divergence, a block has ended without it
#include "copy.args.h"
#include <cooperative_groups.h>

extern "C" __global__ void kernel(copy_args a) {
  const auto grid = cooperative_groups::this_grid();
  if (blockIdx.x + 1 == gridDim.x) return;
  for (long long i = grid.thread_rank(); i < a.n; i += grid.size()) a.y[i] = a.x[i];
  grid.sync();  // found here
}
