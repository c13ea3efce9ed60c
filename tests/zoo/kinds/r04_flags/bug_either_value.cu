// apo:variant  anynegative/bug_either_value
// apo:target   cuda sm_80
// apo:idea     Every block writes whether it has found one.
// apo:launch   clear grid=ceil_div(rows,64) block=64
// apo:launch   mark grid=rows,ceil_div(cols,32) block=32
#include "below.cuh"

extern "C" __global__ void mark(const anynegative_args a) {
  const bool below = is_below(a);
  const bool any = __any_sync(~0u, below);
  if (threadIdx.x == 0)
    a.y[blockIdx.x] = any ? 1 : 0;
}
