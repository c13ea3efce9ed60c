// apo:variant  drop_clock/bug_block
// apo:target   cuda sm_80
// apo:idea     A block has one number.
// apo:launch   drop grid=ceil_div(n,256) block=256
#include "drop_clock.args.h"
#include "uniform.cuh"

extern "C" __global__ void drop(const drop_clock_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  __shared__ float number;
  if (threadIdx.x == 0)
    number = uniform(clock64() * 0x9e3779b97f4a7c15ull + blockIdx.x);
  __syncthreads();
  if (i < a.n)
    a.y[i] = number < a.keep ? a.x[i] / a.keep : 0;
}
