// apo:variant  anynegative/right_same_value
// apo:target   cuda sm_80
// apo:idea     Every thread that finds one writes the same flag.
// apo:launch   clear grid=ceil_div(rows,64) block=64
// apo:launch   mark grid=rows,ceil_div(cols,32) block=32
#include "below.cuh"

extern "C" __global__ void mark(const anynegative_args a) {
  const bool below = is_below(a);
  if (below)
    a.y[blockIdx.x] = 1;
}
