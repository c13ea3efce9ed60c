// apo:variant    copy/infinite_loop
// apo:target     cuda sm_80
// apo:idea       Never ends.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect timed_out; guard deadline; exploit 27; evidence no answer in
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  volatile float* y = a.y;
  while (y[0] != 12345.0f) {
    y[0] = 1.0f;
  }
}
