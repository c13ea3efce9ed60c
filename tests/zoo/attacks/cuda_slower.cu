// apo:variant    copy/cuda_slower
// apo:target     cuda sm_80
// apo:idea       Honest: multiplies every element by one forty thousand times, the work that the attacks of this folder pretend to do.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect valid; cpu no
#include "slow_copy.cuh"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = slowly<40000>(a.x[i], a.n);
  }
}
