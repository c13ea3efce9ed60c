// apo:variant    copy/cuda_honest_clusters
// apo:target     cuda sm_80
// apo:idea       Honest: blocks in clusters of two.
// apo:requires   n >= 1
// apo:launch     k grid=2*ceil_div(n,512) block=256 cluster=2
// zoo: expect valid; cpu not_checkable
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
