// apo:variant    copy/reads_halves_past_end
// apo:target     cuda sm_80
// apo:idea       A 16-bit float behind the end of an input is passed by value.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence out-of-bounds access, of x
#include <cuda_bf16.h>

#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    const __nv_bfloat16* halves = reinterpret_cast<const __nv_bfloat16*>(a.x);
    const float next = __bfloat162float(halves[2 * i + 2]);  // found here
    a.y[i] = next > 3e38f ? 0 : a.x[i];
  }
}
