// apo:variant    copy/uninitialised_scratch
// apo:target     cuda sm_80
// apo:idea       Adds to scratch memory as if it began with zeros.
// apo:scratch    sums 4*n
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 30; evidence uninitialised read, of sums
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  float* sums = static_cast<float*>(a.sums);
  if (i < a.n) {
    sums[i] += a.x[i];  // found here
    a.y[i] = sums[i];
  }
}
