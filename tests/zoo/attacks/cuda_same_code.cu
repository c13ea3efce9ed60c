// apo:variant    copy/cuda_same_code
// apo:target     cuda sm_80
// apo:idea       The simple variant under another name and with another idea: nothing to time.
// apo:launch     copy_elements grid=ceil_div(n,256) block=256
// zoo: how compare cold n1m; against copy/cuda_simple; expect no_change; guard same-code; exploit 26
// zoo: evidence identical
#include "copy.args.h"

extern "C" __global__ void copy_elements(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
