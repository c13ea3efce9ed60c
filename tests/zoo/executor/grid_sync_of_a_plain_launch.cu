// apo:variant    copy/grid_sync_of_a_plain_launch
// apo:target     cuda sm_80
// apo:idea       The grid's barrier is that of a cooperative launch, which this is none.
// apo:launch     kernel grid=8 block=64
// zoo: expect incorrect; guard executor; evidence deadlock, the launch is not cooperative
#include "copy.args.h"
#include <cooperative_groups.h>

extern "C" __global__ void kernel(copy_args a) {
  const auto grid = cooperative_groups::this_grid();
  for (long long i = grid.thread_rank(); i < a.n; i += grid.size()) a.y[i] = a.x[i];
  grid.sync();  // found here
}
