// apo:variant  planes/right
// apo:target   cuda sm_80
// apo:idea     The grid is clipped at 65535 planes, and each block goes on by the grid.
// apo:launch   twice grid=ceil_div(n,64),1,min(P,65535) block=64
#include "planes.args.h"

extern "C" __global__ void twice(const planes_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  if (i < a.n)
    for (long long p = blockIdx.z; p < a.P; p += gridDim.z)
      a.y[p * a.n + i] = 2 * a.x[p * a.n + i] + a.b[i];
}
