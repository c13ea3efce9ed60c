// apo:variant    copy/own_equivalent
// apo:target     cuda sm_80
// apo:idea       Brings an equivalent of its own for an instruction that the CPU lacks.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect not_checkable; guard build; evidence not checkable on the CPU: __APO_CPU__
#include "copy.args.h"

__device__ unsigned lane_of() {
#ifdef __APO_CPU__
  return threadIdx.x % 32;
#else
  unsigned lane;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  return lane;
#endif
}

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n && lane_of() == threadIdx.x % 32) {
    a.y[i] = a.x[i];
  }
}
