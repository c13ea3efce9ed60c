// apo:variant    copy/cuda_remembers_across_samples
// apo:target     cuda sm_80
// apo:idea       Keeps its last results in device memory from one sample to the next, and replays one when the same input comes again.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     remember grid=1 block=1
// zoo: how compare cold n1m; against copy/cuda_slow; expect not_accepted; guard state; exploit 6
#include "kept_results.cuh"

constexpr long long kMost = 1 << 20;
__device__ float memo[kEntries * kMost];
__device__ float keys[4 * kEntries + 1];

extern "C" __global__ void k(const copy_args a) {
  copy_or_replay<8000>(a, memo, kMost, keys);
}

extern "C" __global__ void remember(const copy_args a) {
  keep(a, keys);
}
