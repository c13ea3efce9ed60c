// apo:variant    copy/cuda_keeps_inputs_in_l2
// apo:target     cuda sm_80
// apo:idea       Loads its input with the policy that keeps lines in the L2 longest, for the next sample to find.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how compare cold n1m; against copy/cuda_simple; expect not_accepted; guard l2; exploit 13
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  if (i < a.n) {
    float value;
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(a.x + i), "l"(policy));
    a.y[i] = value;
  }
}
