// apo:variant    copy/honest_early_warps
// apo:target     cuda sm_80
// apo:idea       Whole warps leave early, and nobody waits for them.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i / 32 * 32 >= a.n) {
    return;
  }
  float x = i < a.n ? a.x[i] : 0;
  x = __shfl_xor_sync(0xffffffffu, x, 1);
  x = __shfl_xor_sync(0xffffffffu, x, 1);
  if (i < a.n) {
    a.y[i] = x;
  }
}
