// apo:variant    zoo_copy/clean_copy
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       One vector of 16 bytes a thread, neighbours beside each other.
// apo:launch     kernel grid=ceil_div(n,1024) block=256
// zoo: expect none
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  reinterpret_cast<float4*>(a.y)[i] = reinterpret_cast<const float4*>(a.x)[i];
}
