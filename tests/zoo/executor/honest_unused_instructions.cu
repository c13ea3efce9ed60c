// apo:variant    copy/honest_unused_instructions
// apo:target     cuda sm_80
// apo:idea       Has instructions without an equivalent where no kernel needs them.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

__device__ inline unsigned multiprocessor() {
  unsigned number;
  asm volatile("mov.u32 %0, %smid;" : "=r"(number));
  return number;
}

template <bool kPlaces>
__device__ float of(float x) {
  if constexpr (kPlaces) {
    return static_cast<float>(multiprocessor());
  }
  return x;
}

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    a.y[i] = of<false>(a.x[i]);
  }
}
