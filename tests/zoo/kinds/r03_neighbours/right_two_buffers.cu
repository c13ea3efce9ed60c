// apo:variant  smooth/right_two_buffers
// apo:target   cuda sm_80
// apo:idea     The copy lies in scratch memory, and another launch reads it.
// apo:scratch  kept 4*n
// apo:launch   copy grid=ceil_div(n,64) block=64
// apo:launch   smooth grid=ceil_div(n,64) block=64
#include "smooth.args.h"

extern "C" __global__ void copy(const smooth_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  if (i < a.n)
    static_cast<float*>(a.kept)[i] = a.x[i];
}

extern "C" __global__ void smooth(const smooth_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  const float* kept = static_cast<const float*>(a.kept);
  if (i < a.n)
    a.y[i] = (kept[i == 0 ? 0 : i - 1] + kept[i] + kept[i == a.n - 1 ? i : i + 1]) / 3;
}
