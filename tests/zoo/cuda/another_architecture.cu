// apo:variant    copy/another_architecture
// apo:target     cuda sm_200
// apo:idea       Is for a device that does not exist.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect refused; guard build; evidence is for sm_200; gate build
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
