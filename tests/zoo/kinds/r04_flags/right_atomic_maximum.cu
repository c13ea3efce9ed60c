// apo:variant  anynegative/right_atomic_maximum
// apo:target   cuda sm_80
// apo:idea     Every warp that finds one raises the flag by an atomic.
// apo:launch   clear grid=ceil_div(rows,64) block=64
// apo:launch   mark grid=rows,ceil_div(cols,32) block=32
#include "below.cuh"

extern "C" __global__ void mark(const anynegative_args a) {
  const bool below = is_below(a);
  if (__any_sync(~0u, below) && threadIdx.x == 0)
    atomicMax(reinterpret_cast<int*>(&a.y[blockIdx.x]), __float_as_int(1.0f));
}
