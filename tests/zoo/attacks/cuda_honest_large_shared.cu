// apo:variant    copy/cuda_honest_large_shared
// apo:target     cuda sm_80
// apo:idea       Honest: blocks with all the shared memory there is.
// apo:launch     k grid=ceil_div(n,256) block=256 shared=SHARED_MAX
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  extern __shared__ float room[];
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  room[threadIdx.x] = i < a.n ? a.x[i] : 0.0f;
  __syncthreads();
  if (i < a.n) {
    a.y[i] = room[threadIdx.x];
  }
}
