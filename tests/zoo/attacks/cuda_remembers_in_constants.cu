// apo:variant    copy/cuda_remembers_in_constants
// apo:target     cuda sm_80
// apo:idea       Keeps its last results in constant memory, which it writes to through the generic address, and replays one.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     remember grid=1 block=1
// zoo: how compare cold n4k; against copy/cuda_slower; expect not_accepted; guard state; exploit 6
#include "kept_results.cuh"

constexpr long long kMost = 4096;
__constant__ float memo[kEntries * kMost];
__constant__ float keys[4 * kEntries + 1];

extern "C" __global__ void k(const copy_args a) {
  copy_or_replay<40000>(a, writable(memo, a.n), kMost, writable(keys, a.n));
}

extern "C" __global__ void remember(const copy_args a) {
  keep(a, writable(keys, a.n));
}
