// apo:variant    copy/one_past_the_end
// apo:target     cuda sm_80
// apo:idea       Writes one element too many.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect incorrect; guard guard-zones; exploit 30; evidence past the end of 'y'
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  if (i == 0) {
    a.y[a.n] = 1;
  }
}
