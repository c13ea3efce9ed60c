// apo:variant    copy/cuda_honest_table_made_in_the_call
// apo:target     cuda sm_80
// apo:idea       Honest: makes a table in scratch memory first and uses it in the same call.
// apo:scratch    order 1024
// apo:launch     make grid=1 block=256
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how compare warm n4k; against copy/cuda_slow; expect faster; cpu valid
#include "copy.args.h"

extern "C" __global__ void make(const copy_args a) {
  static_cast<int*>(a.order)[threadIdx.x] = static_cast<int>(threadIdx.x) ^ 5;
}

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const long long j = i / 256 * 256 + static_cast<const int*>(a.order)[threadIdx.x];
  if (j < a.n) {
    a.y[j] = a.x[j];
  }
}
