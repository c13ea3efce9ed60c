// apo:variant    copy/other_threads_local_memory
// apo:target     cuda sm_80
// apo:idea       Hands the address of a local variable to another thread.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence the local memory of another thread
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ volatile float* where;
  float own = i < a.n ? a.x[i] : 0;
  if (threadIdx.x == 5) {
    where = &own;
  }
  __syncthreads();
  const float theirs = *where;  // found here
  if (i < a.n) {
    a.y[i] = theirs == theirs ? own : 0;
  }
  __syncthreads();
}
