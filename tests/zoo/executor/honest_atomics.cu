// apo:variant    copy/honest_atomics
// apo:target     cuda sm_80
// apo:idea       A counter in shared memory, a maximum and a ticket, read behind a barrier.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ unsigned count;
  __shared__ int largest;
  if (threadIdx.x == 0) {
    count = 0;
    largest = -1;
  }
  __syncthreads();
  const unsigned ticket = atomicAdd(&count, 1u);
  atomicMax(&largest, static_cast<int>(ticket));
  __syncthreads();
  if (i < a.n && count == 128 && largest == 127) {
    a.y[i] = a.x[i];
  }
}
