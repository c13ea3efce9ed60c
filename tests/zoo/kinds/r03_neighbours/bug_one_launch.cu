// apo:variant  smooth/bug_one_launch
// apo:target   cuda sm_80
// apo:idea     The copy lies in scratch memory, and the same launch reads its neighbour's last element.
// apo:scratch  kept 4*n
// apo:launch   smooth grid=ceil_div(n,64) block=64
#include "smooth.args.h"

extern "C" __global__ void smooth(const smooth_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  float* kept = static_cast<float*>(a.kept);
  if (i < a.n)
    kept[i] = a.x[i];
  __syncthreads();
  if (i >= a.n)
    return;
  const float before = i % 64 == 0 && i > 0 ? kept[i - 1] : a.x[i == 0 ? 0 : i - 1];
  a.y[i] = (before + kept[i] + a.x[i == a.n - 1 ? i : i + 1]) / 3;
}
