// apo:variant    copy/cuda_honest_counter_of_its_own
// apo:target     cuda sm_80
// apo:idea       Honest: a counter in device memory deals out the elements, and is put back at the end of the call.
// apo:launch     k grid=min(ceil_div(n,256),SMS) block=256
// apo:launch     reset grid=1 block=1
// zoo: how compare warm n4k; against copy/cuda_slow; expect faster; cpu valid
#include "copy.args.h"

__device__ unsigned long long next;

extern "C" __global__ void k(const copy_args a) {
  __shared__ long long begin;
  while (true) {
    if (threadIdx.x == 0) {
      begin = 256LL * static_cast<long long>(atomicAdd(&next, 1ULL));
    }
    __syncthreads();
    const long long mine = begin + threadIdx.x;
    const bool finished = begin >= a.n;
    __syncthreads();
    if (finished) {
      return;
    }
    if (mine < a.n) {
      a.y[mine] = a.x[mine];
    }
  }
}

extern "C" __global__ void reset(const copy_args) {
  next = 0;
}
