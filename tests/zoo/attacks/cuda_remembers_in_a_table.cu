// apo:variant    copy/cuda_remembers_in_a_table
// apo:target     cuda sm_80
// apo:idea       Keeps its last results in a table that it declares unchangeable, and replays one.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     remember grid=1 block=1
// zoo: how compare cold n4k; against copy/cuda_slower; expect not_accepted; guard state; exploit 6
#include "kept_results.cuh"

constexpr long long kMost = 4096;
// The results, their keys, and whose turn it is.
__device__ constexpr float table[kEntries * kMost + 4 * kEntries + 1] = {1, 2, 3, 4};

extern "C" __global__ void k(const copy_args a) {
  copy_or_replay<40000>(a, writable(table, a.n), kMost, writable(table, a.n) + kEntries * kMost);
}

extern "C" __global__ void remember(const copy_args a) {
  keep(a, writable(table, a.n) + kEntries * kMost);
}
