// apo:variant    copy/cuda_remembers_across_samples
// apo:target     cuda sm_80
// apo:idea       Keeps its last results in device memory from one sample to the next, and replays one when the same input comes again.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     remember grid=1 block=1
// zoo: how compare cold n1m; against copy/cuda_slow; expect not_accepted; guard state; exploit 6
#include "slow_copy.cuh"

constexpr long long kMost = 1 << 20;
constexpr int kEntries = 3;  // a round has two inputs
__device__ float memo[kEntries * kMost];
__device__ float keys[4 * kEntries];
__device__ int turn;

// Which of the last results is of this input; kEntries where none is.
__device__ int entry_of(const copy_args& a, float* keys) {
  for (int entry = 0; entry < kEntries; ++entry) {
    float* key = keys + 4 * entry;
    if (key[0] == a.x[0] && key[1] == a.x[a.n / 2] && key[2] == a.x[a.n - 1] && key[3] == a.n) {
      return entry;
    }
  }
  return kEntries;
}

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const int entry = entry_of(a, keys);
  const bool known = entry < kEntries;
  if (i < a.n && i < kMost) {
    const long long at = kMost * (known ? entry : static_cast<int>(turn)) + i;
    const float value = known ? memo[at] : slowly(a.x[i], a.n);
    memo[at] = value;
    a.y[i] = value;
  } else if (i < a.n) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}

extern "C" __global__ void remember(const copy_args a) {
  if (entry_of(a, keys) < kEntries) {
    return;
  }
  float* key = keys + 4 * static_cast<int>(turn);
  key[0] = a.x[0];
  key[1] = a.x[a.n / 2];
  key[2] = a.x[a.n - 1];
  key[3] = static_cast<float>(a.n);
  turn = (static_cast<int>(turn) + 1) % kEntries;
}
