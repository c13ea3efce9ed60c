// apo:variant  anynegative/right_look_first
// apo:target   cuda sm_80
// apo:idea     A warp looks at the flag before it raises it by an atomic.
// apo:launch   clear grid=ceil_div(rows,64) block=64
// apo:launch   mark grid=rows,ceil_div(cols,32) block=32
#include "below.cuh"

extern "C" __global__ void mark(const anynegative_args a) {
  const bool below = is_below(a);
  if (__any_sync(~0u, below) && threadIdx.x == 0 && a.y[blockIdx.x] < 1)
    atomicMax(reinterpret_cast<int*>(&a.y[blockIdx.x]), __float_as_int(1.0f));
}
