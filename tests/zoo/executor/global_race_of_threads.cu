// apo:variant    copy/global_race_of_threads
// apo:target     cuda sm_80
// apo:idea       Threads of a block add to a word of scratch memory.
// apo:scratch    sums 4*n
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 31; evidence global-memory race, of sums, with no barrier between
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  float* sum = static_cast<float*>(a.sums) + blockIdx.x;
  if (threadIdx.x == 0) {
    *sum = 0;
  }
  __syncthreads();
  *sum += 1;  // found here
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
