// apo:variant    copy/honest_named_barriers
// apo:target     cuda sm_80
// apo:idea       Pairs of warps meet at barriers of their own.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[128];
  tile[threadIdx.x] = i < a.n ? a.x[i] : 0;
  asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 64 + 1) : "memory");
  const float x = tile[threadIdx.x ^ 32];
  asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 64 + 1) : "memory");
  tile[threadIdx.x ^ 32] = x;
  asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 64 + 1) : "memory");
  if (i < a.n) {
    a.y[i] = tile[threadIdx.x];
  }
}
