// apo:variant    copy/writes_nothing
// apo:target     cuda sm_80
// apo:idea       Returns at once.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect incorrect; guard poison; exploit 2; evidence never written
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i >= 0) {
    return;
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
