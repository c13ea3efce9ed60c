// apo:variant    copy/cuda_honest_two_parts_of_a_float
// apo:target     cuda sm_80
// apo:idea       Honest: takes a value apart into a coarse and a fine part and adds them again, which is exact.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    const float value = a.x[i];
    const float coarse = __uint_as_float(__float_as_uint(value) & 0xffff0000u);
    a.y[i] = coarse + (value - coarse);
  }
}
