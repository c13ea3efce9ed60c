// apo:variant    copy/grid_is_no_number
// apo:target     cuda sm_80
// apo:idea       Divides by zero to get its grid.
// apo:launch     k grid=n/(n-n) block=256
// zoo: expect refused; guard build; evidence grid=n/(n-n); gate build
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
