// apo:variant  smooth/bug_halo_by_both
// apo:target   cuda sm_80
// apo:idea     Blocks overlap by an element, for which only the second one knows its neighbour.
// apo:launch   smooth grid=ceil_div(n,64) block=65
#include "smooth.args.h"

extern "C" __global__ void smooth(const smooth_args a) {
  const long long i = 64LL * blockIdx.x + threadIdx.x;
  __shared__ float tile[65];
  tile[threadIdx.x] = a.x[i < a.n ? i : a.n - 1];
  __syncthreads();
  if (i >= a.n)
    return;
  const float before = threadIdx.x > 0 ? tile[threadIdx.x - 1] : a.x[i == 0 ? 0 : i - 1];
  const float after = threadIdx.x < 64 ? tile[threadIdx.x + 1] : tile[64];
  a.y[i] = (before + tile[threadIdx.x] + (i == a.n - 1 ? tile[threadIdx.x] : after)) / 3;
}
