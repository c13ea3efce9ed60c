// apo:variant    copy/cuda_skips_finished_output
// apo:target     cuda sm_80
// apo:idea       Looks whether the output is there already, from the call before, and then does nothing: all calls of a sample but the first.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how compare warm n4k; against copy/cuda_slow; expect guard_failed; guard fresh-inputs; exploit 7
// zoo: evidence inputs made right before; cpu incorrect
#include "slow_copy.cuh"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n && a.y[i] != a.x[i]) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}
