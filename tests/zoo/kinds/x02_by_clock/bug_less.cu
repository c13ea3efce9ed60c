// apo:variant  drop_clock/bug_less
// apo:target   cuda sm_80
// apo:idea     Keeps 45 % in place of 50 %.
// apo:launch   drop grid=ceil_div(n,256) block=256
#include "drop_clock.args.h"
#include "uniform.cuh"

extern "C" __global__ void drop(const drop_clock_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n)
    a.y[i] = uniform(clock64() * 0x9e3779b97f4a7c15ull + i) < a.keep - 0.05f ? a.x[i] / a.keep : 0;
}
