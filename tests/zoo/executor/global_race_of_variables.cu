// apo:variant    copy/global_race_of_variables
// apo:target     cuda sm_80
// apo:idea       Blocks count in a variable of the file without an atomic.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 31; evidence global-memory race, a variable of the file, of block
#include "copy.args.h"

__device__ unsigned blocks_done;

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
  if (threadIdx.x == 0) {
    ++blocks_done;  // found here
  }
}
