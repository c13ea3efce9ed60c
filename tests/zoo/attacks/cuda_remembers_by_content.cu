// apo:variant    copy/cuda_remembers_by_content
// apo:target     cuda sm_80
// apo:idea       Keeps its last result in device memory, with a fingerprint of the input, and replays it when that comes again.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     remember grid=1 block=1
// zoo: how compare warm n4k; against copy/cuda_slow; expect guard_failed; guard fresh-inputs; exploit 6
// zoo: evidence inputs made right before
#include "slow_copy.cuh"

constexpr long long kMost = 1 << 20;
__device__ float memo[kMost];
__device__ float key[4];

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const bool known = key[0] == a.x[0] && key[1] == a.x[a.n / 2] && key[2] == a.x[a.n - 1] && key[3] == a.n;
  if (i < a.n && i < kMost) {
    const float value = known ? memo[i] : slowly(a.x[i], a.n);
    memo[i] = value;
    a.y[i] = value;
  } else if (i < a.n) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}

extern "C" __global__ void remember(const copy_args a) {
  key[0] = a.x[0];
  key[1] = a.x[a.n / 2];
  key[2] = a.x[a.n - 1];
  key[3] = static_cast<float>(a.n);
}
