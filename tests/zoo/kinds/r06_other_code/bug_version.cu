// apo:variant  twice/bug_version
// apo:target   cuda sm_80
// apo:idea     A factor that the compiler's version decides.
// apo:launch   kernel grid=ceil_div(n,128) block=128
#include "twice.args.h"

extern "C" __global__ void kernel(const twice_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n)
    a.y[i] = (__VERSION__[0] != 0 ? 2 : 3) * a.x[i];
}
