// apo:variant    copy/missing_barrier
// apo:target     cuda sm_80
// apo:idea       Hands elements from warp to warp through shared memory and waits a while instead of at a barrier.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: expect incorrect; guard sanitizers; exploit 31
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  __shared__ volatile float moved[256];
  const int other = static_cast<int>(threadIdx.x) ^ 32;
  moved[threadIdx.x] = i < a.n ? a.x[i] : 0.0f;
  for (const long long start = clock64(); clock64() - start < 100000;) {
  }
  if (256LL * blockIdx.x + other < a.n) {
    a.y[256LL * blockIdx.x + other] = moved[other];
  }
}
