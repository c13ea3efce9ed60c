// apo:variant  twice/bug_sanitizer
// apo:target   cuda sm_80
// apo:idea     A barrier where the compiler's ThreadSanitizer is on.
// apo:launch   kernel grid=ceil_div(n,128) block=128
#include "twice.args.h"

extern "C" __global__ void kernel(const twice_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[128];
  tile[threadIdx.x] = i < a.n ? a.x[i] : 0;
#if defined(__SANITIZE_THREAD__)
  __syncthreads();
#endif
  if (i < a.n)
    a.y[i] = tile[threadIdx.x] + tile[127 - (127 - threadIdx.x)];
}
