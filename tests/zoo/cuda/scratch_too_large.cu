// apo:variant    copy/scratch_too_large
// apo:target     cuda sm_80
// apo:idea       Asks for a terabyte.
// apo:scratch    heap 1024*1024*1024*1024
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect out_of_memory; guard memory-limit; evidence cannot allocate
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
