// apo:variant    copy/negative_grid
// apo:target     cuda sm_80
// apo:idea       Its grid has fewer than no blocks.
// apo:launch     k grid=1-n block=256
// zoo: expect refused; guard build; evidence and at least 1 is needed; gate build
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
