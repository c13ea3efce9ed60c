// apo:variant    copy/cuda_honest_constant_table
// apo:target     cuda sm_80
// apo:idea       Honest: a table in constant memory says where each element of a group goes.
// apo:launch     k grid=ceil_div(n+8,256) block=256
// zoo: how compare cold n4k; against copy/cuda_slow; expect faster; cpu valid
#include "copy.args.h"

__constant__ const int kOrder[8] = {7, 3, 5, 1, 6, 2, 4, 0};

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const long long j = i / 8 * 8 + kOrder[i % 8];
  if (j < a.n) {
    a.y[j] = a.x[j];
  }
}
