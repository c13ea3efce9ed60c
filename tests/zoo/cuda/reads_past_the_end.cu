// apo:variant    copy/reads_past_the_end
// apo:target     cuda sm_80
// apo:idea       Reads one element past the input and does nothing with it: only a memory checker sees that.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect incorrect; guard sanitizers; exploit 30; evidence memcheck, Invalid __global__ read of size 4
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  if (i == 0) {
    (void)static_cast<const volatile float*>(a.x)[a.n];
  }
}
