// apo:variant    copy/cuda_races
// apo:target     cuda sm_80
// apo:idea       Hands elements through shared memory without a barrier; mostly right.
// apo:launch     k grid=ceil_div(n,256) block=256
// zoo: how register; expect incorrect; guard executor; exploit 31; evidence race
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  __shared__ float moved[256];
  const int other = static_cast<int>(threadIdx.x) ^ 32;
  moved[threadIdx.x] = i < a.n ? a.x[i] : 0.0f;
  if (256LL * blockIdx.x + other < a.n) {
    a.y[256LL * blockIdx.x + other] = moved[other];
  }
}
