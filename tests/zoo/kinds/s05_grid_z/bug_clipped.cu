// apo:variant  planes/bug_clipped
// apo:target   cuda sm_80
// apo:idea     The grid is clipped at 65535 planes, and the kernel has no loop over what is left.
// apo:launch   twice grid=ceil_div(n,64),1,min(P,65535) block=64
#include "planes.args.h"

extern "C" __global__ void twice(const planes_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  const long long p = blockIdx.z;
  if (i < a.n)
    a.y[p * a.n + i] = 2 * a.x[p * a.n + i] + a.b[i];
}
