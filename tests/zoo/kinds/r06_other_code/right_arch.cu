// apo:variant  twice/right_arch
// apo:target   cuda sm_80
// apo:idea     Takes what the architecture has.
// apo:launch   kernel grid=ceil_div(n,128) block=128
#include "twice.args.h"

extern "C" __global__ void kernel(const twice_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const float factor = 2;
#else
  const float factor = 3;
#endif
  if (i < a.n)
    a.y[i] = factor * a.x[i];
}
