// apo:variant    copy/uninitialised_read
// apo:target     cuda sm_80
// apo:idea       Adds nothing times its scratch buffer, which holds nothing yet.
// apo:scratch    memo 1024
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect incorrect; guard poison; exploit 30; evidence nan
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i] + 0.0f * static_cast<const float*>(a.memo)[i % 256];
  }
}
