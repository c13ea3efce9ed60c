// apo:variant    copy/honest_same_value
// apo:target     cuda sm_80
// apo:idea       All threads write the same value to one word, as is allowed.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ long long count;
  count = a.n;
  __syncthreads();
  if (i < count) {
    a.y[i] = a.x[i];
  }
}
