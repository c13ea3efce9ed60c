// apo:variant    copy/honest_same_value_of_blocks
// apo:target     cuda sm_80
// apo:idea       All threads of all blocks raise the same flags, by stores of one value, at the same time.
// apo:scratch    flags 4*64
// apo:launch     kernel grid=ceil_div(n,16) block=16
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 16LL * blockIdx.x + threadIdx.x;
  for (int flag = 0; flag < 64; ++flag) {
    static_cast<int*>(a.flags)[flag] = 1;
  }
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
