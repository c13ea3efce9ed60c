// apo:variant  smooth/right_same_halo
// apo:target   cuda sm_80
// apo:idea     Blocks overlap by an element, for which each of them writes the same.
// apo:launch   smooth grid=ceil_div(n,64) block=65
#include "smooth.args.h"

extern "C" __global__ void smooth(const smooth_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  if (i < a.n)
    a.y[i] = (a.x[i == 0 ? 0 : i - 1] + a.x[i] + a.x[i == a.n - 1 ? i : i + 1]) / 3;
}
