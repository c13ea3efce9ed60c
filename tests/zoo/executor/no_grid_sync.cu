// apo:variant    copy/no_grid_sync
// apo:target     cuda sm_80
// apo:idea       Blocks clear what others write behind a barrier of the block alone.
// apo:launch     kernel grid=8 block=64 cooperative=1
// zoo: expect incorrect; guard executor; evidence global-memory race, of y, of block
#include "copy.args.h"
#include <cooperative_groups.h>

extern "C" __global__ void kernel(copy_args a) {
  const auto grid = cooperative_groups::this_grid();
  for (long long i = grid.thread_rank(); i < a.n; i += grid.size()) a.y[a.n - 1 - i] = 0;
  __syncthreads();
  for (long long i = grid.thread_rank(); i < a.n; i += grid.size()) a.y[i] = a.x[i];
}
