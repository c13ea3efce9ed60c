// apo:variant    zoo_copy/three_passes
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Copies through two buffers, so that three times the bytes move.
// apo:scratch    one 4*n
// apo:scratch    two 4*n
// apo:launch     first grid=ceil_div(n,1024) block=256
// apo:launch     second grid=ceil_div(n,1024) block=256
// apo:launch     third grid=ceil_div(n,1024) block=256
// zoo: expect excess-dram-traffic
#include "zoo_copy.args.h"

extern "C" __global__ void first(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  static_cast<float4*>(a.one)[i] = reinterpret_cast<const float4*>(a.x)[i];
}

extern "C" __global__ void second(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  static_cast<float4*>(a.two)[i] = static_cast<const float4*>(a.one)[i];
}

extern "C" __global__ void third(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  reinterpret_cast<float4*>(a.y)[i] = static_cast<const float4*>(a.two)[i];
}
