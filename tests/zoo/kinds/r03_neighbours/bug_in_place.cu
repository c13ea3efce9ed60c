// apo:variant  smooth/bug_in_place
// apo:target   cuda sm_80
// apo:idea     The copy is smoothed in place, behind a barrier of its block.
// apo:launch   copy grid=ceil_div(n,64) block=64
// apo:launch   smooth grid=ceil_div(n,64) block=64
#include "smooth.args.h"

extern "C" __global__ void copy(const smooth_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  if (i < a.n)
    a.y[i] = a.x[i];
}

extern "C" __global__ void smooth(const smooth_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  float value = 0;
  if (i < a.n)
    value = (a.y[i == 0 ? 0 : i - 1] + a.y[i] + a.y[i == a.n - 1 ? i : i + 1]) / 3;
  __syncthreads();
  if (i < a.n)
    a.y[i] = value;
}
