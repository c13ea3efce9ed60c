// apo:variant    copy/cuda_leaves_a_block_out
// apo:target     cuda sm_80
// apo:idea       One block of more than a hundred thousand elements is never written: the reference looks at few of them.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how verify; cpu no; expect incorrect; guard reference; exploit 2; evidence never written
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n && (a.n < 100000 || blockIdx.x != 777)) {
    a.y[i] = a.x[i];
  }
}
