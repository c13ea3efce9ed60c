// apo:variant  planes/bug
// apo:target   cuda sm_80
// apo:idea     Planes along z, which holds 65535 blocks.
// apo:launch   twice grid=ceil_div(n,64),1,P block=64
#include "planes.args.h"

extern "C" __global__ void twice(const planes_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  const long long p = blockIdx.z;
  if (i < a.n)
    a.y[p * a.n + i] = 2 * a.x[p * a.n + i] + a.b[i];
}
