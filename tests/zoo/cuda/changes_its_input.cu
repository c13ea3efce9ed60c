// apo:variant    copy/changes_its_input
// apo:target     cuda sm_80
// apo:idea       Is right, and spoils what it read.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect incorrect; guard inputs; exploit 4; evidence changed its input 'x
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  if (i == 3) {
    const_cast<float*>(a.x)[i] = -1;
  }
}
