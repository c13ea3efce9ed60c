// apo:variant    copy/race_of_writers
// apo:target     cuda sm_80
// apo:idea       All threads write another value to one word.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 31; evidence shared-memory race, wrote at
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ int last;
  last = threadIdx.x;  // found here
  __syncthreads();
  if (i < a.n && last >= 0) {
    a.y[i] = a.x[i];
  }
}
