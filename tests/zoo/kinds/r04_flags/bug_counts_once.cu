// apo:variant  anynegative/bug_counts_once
// apo:target   cuda sm_80
// apo:idea     A flag that is counted up where it is 0, by blocks that all may see the 0.
// apo:launch   clear grid=ceil_div(rows,64) block=64
// apo:launch   mark grid=rows,ceil_div(cols,32) block=32
#include "below.cuh"

extern "C" __global__ void mark(const anynegative_args a) {
  const bool below = is_below(a);
  if (__any_sync(~0u, below) && threadIdx.x == 0 && a.y[blockIdx.x] == 0)
    a.y[blockIdx.x] += 1;
}
