// apo:variant  anynegative/right_atomic_maximum
// apo:target   cuda sm_80
// apo:idea     Every warp that finds one raises the flag by an atomic.
// apo:launch   clear grid=ceil_div(rows,64) block=64
// apo:launch   mark grid=rows,ceil_div(cols,32) block=32
#include "anynegative.args.h"

extern "C" __global__ void clear(const anynegative_args a) {
  const long long r = 64LL * blockIdx.x + threadIdx.x;
  if (r < a.rows)
    a.y[r] = 0;
}

extern "C" __global__ void mark(const anynegative_args a) {
  const long long c = 32LL * blockIdx.y + threadIdx.x;
  const bool below = c < a.cols && a.x[blockIdx.x * a.cols + c] < -2.5f;
  if (__any_sync(~0u, below) && threadIdx.x == 0)
    atomicMax(reinterpret_cast<int*>(&a.y[blockIdx.x]), __float_as_int(1.0f));
}
