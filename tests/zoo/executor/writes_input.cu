// apo:variant    copy/writes_input
// apo:target     cuda sm_80
// apo:idea       Uses its input as a place to work.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 4; evidence write to an input, of x
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    const_cast<float*>(a.x)[i] += 0;  // found here
    a.y[i] = a.x[i];
  }
}
