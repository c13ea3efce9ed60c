// apo:variant    copy/cuda_honest_atomic_ticket
// apo:target     cuda sm_80
// apo:idea       Honest: blocks take their part by a ticket in scratch memory, in whatever order they come.
// apo:scratch    ticket 64
// apo:launch     reset grid=1 block=1
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void reset(const copy_args a) {
  *static_cast<unsigned*>(a.ticket) = 0;
}

extern "C" __global__ void k(const copy_args a) {
  __shared__ unsigned part;
  if (threadIdx.x == 0) {
    part = atomicAdd(static_cast<unsigned*>(a.ticket), 1u);
  }
  __syncthreads();
  const long long i = 256LL * part + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
