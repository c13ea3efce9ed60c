// apo:variant    copy/cuda_honest_read_only_loads
// apo:target     cuda sm_80
// apo:idea       Honest: reads through the read-only path.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = __ldg(a.x + i);
  }
}
