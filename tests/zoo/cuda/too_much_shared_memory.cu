// apo:variant    copy/too_much_shared_memory
// apo:target     cuda sm_80
// apo:idea       Asks for a byte more than a block can have.
// apo:launch     k grid=ceil_div(n,256) block=256 shared=SHARED_MAX+1
// zoo: expect refused; guard build; evidence shared=SHARED_MAX+1, outside 0 to; gate build
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
