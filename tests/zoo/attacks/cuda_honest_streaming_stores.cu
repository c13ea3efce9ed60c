// apo:variant    copy/cuda_honest_streaming_stores
// apo:target     cuda sm_80
// apo:idea       Honest: writes with the policy for data that is not read again.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how compare cold n1m; against copy/cuda_slow; expect faster; cpu valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    __stcs(a.y + i, __ldcs(a.x + i));
  }
}
