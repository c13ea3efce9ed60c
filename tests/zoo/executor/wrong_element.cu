// apo:variant    copy/wrong_element
// apo:target     cuda sm_80
// apo:idea       Right in every way but the values.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard reference; evidence y[0]
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i ^ (i < 2)];
  }
}
