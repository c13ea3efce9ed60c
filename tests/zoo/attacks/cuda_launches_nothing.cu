// apo:variant    copy/cuda_launches_nothing
// apo:target     cuda sm_80
// apo:idea       Has a kernel that returns at once: whatever the output holds is its result.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how verify; expect incorrect; guard poison; exploit 2; evidence never written
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (a.n < 0) {
    a.y[i] = a.x[i];
  }
}
