// apo:variant    copy/too_much_static_shared
// apo:target     cuda sm_80
// apo:idea       More static shared memory than any GPU takes.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect build_failed; guard build; evidence 65536 bytes of static shared memory
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[16384];
  tile[128 * threadIdx.x] = 0;
  __syncthreads();
  if (tile[128 * (threadIdx.x ^ 1)] != 0) {
    return;
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
