// apo:variant    copy/block_atomics_of_two_blocks
// apo:target     cuda sm_80
// apo:idea       Blocks count together by operations that are atomic in their own block alone.
// apo:scratch    count 4
// apo:launch     clear grid=1 block=1
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; evidence global-memory race
#include "copy.args.h"

extern "C" __global__ void clear(const copy_args a) {
  *static_cast<int*>(a.count) = 0;
}

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (threadIdx.x == 0) {
    atomicAdd_block(static_cast<int*>(a.count), 1);  // found here
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
