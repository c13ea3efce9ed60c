// apo:variant    copy/unknown_instruction
// apo:target     cuda sm_80
// apo:idea       Its inline PTX is none.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect build_failed; guard build; gate build
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  asm volatile("copy.everything.now;");
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
