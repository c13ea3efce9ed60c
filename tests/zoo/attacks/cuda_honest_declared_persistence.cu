// apo:variant    copy/cuda_honest_declared_persistence
// apo:target     cuda sm_80
// apo:idea       Honest: asks by its launch line for the input to persist in the L2 during the call.
// apo:launch     k grid=ceil_div(n,256) block=256 l2_persist=1
// zoo: how compare cold n1m; against copy/cuda_slow; expect faster; cpu valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
