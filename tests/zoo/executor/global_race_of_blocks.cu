// apo:variant    copy/global_race_of_blocks
// apo:target     cuda sm_80
// apo:idea       Neighbouring blocks share a word of scratch memory.
// apo:scratch    shared_sums 4*n
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 31
// zoo: evidence global-memory race, of shared_sums, of block, with no order between
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  float* sums = static_cast<float*>(a.shared_sums);
  if (threadIdx.x == 0) {
    sums[blockIdx.x / 2] = static_cast<float>(blockIdx.x) + 1;  // found here
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
