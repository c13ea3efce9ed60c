// apo:variant  anynegative/right_same_value
// apo:target   cuda sm_80
// apo:idea     Every thread that finds one writes the same flag.
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
  if (below)
    a.y[blockIdx.x] = 1;
}
