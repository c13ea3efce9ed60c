// apo:variant    zoo_copy/redundant_loads
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Every element is loaded four times, so far apart that the L2 has lost it.
// apo:requires   n == 16777216 || n == 1048576 || n == 4096
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect excess-dram-traffic
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const long long q = a.n / 4;
  const long long m = a.n - 1;
  a.y[i] = a.x[i] + 0.0f * (a.x[(i + q) & m] + a.x[(i + 2 * q) & m] + a.x[(i + 3 * q) & m]);  // planted
}
