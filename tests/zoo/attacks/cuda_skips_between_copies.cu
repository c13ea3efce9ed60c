// apo:variant    copy/cuda_skips_between_copies
// apo:target     cuda sm_80
// apo:idea       The same where the calls of a sample take turns over copies of the tensors, which come round again.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how compare cold n4k; against copy/cuda_slow; expect claim_at_most 1.02x; guard fresh-inputs; exploit 7
#include "slow_copy.cuh"

// Each of the 25 calls in a sample has a copy of its own, with poison in y: nothing is skipped. The 0.4 to 0.6 % by
// which this is quicker than its rival on an H200 are those of a call that does all of the work.
extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n && a.y[i] != a.x[i]) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}
