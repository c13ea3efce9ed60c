// apo:variant    copy/writes_past_output
// apo:target     cuda sm_80
// apo:idea       Forgets that the last block is not full.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 30; evidence out-of-bounds access, of y, which has 4004
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  a.y[i] = a.x[i < a.n ? i : 0];  // found here
}
