// apo:variant  smooth/right_flag_put_down
// apo:target   cuda sm_80
// apo:idea     A block waits for the flag of the block before it, and puts it down by a plain write.
// apo:scratch  kept 4*n
// apo:scratch  flags 4*ceil_div(n,64)
// apo:launch   clear grid=ceil_div(n,64) block=32
// apo:launch   smooth grid=ceil_div(n,64) block=64
#define DISTANCE 1
#define AFTERWARDS \
  if (block > 0) \
    static_cast<int*>(a.flags)[block - 1] = 0;
#include "flags.cuh"
