// apo:variant    copy/cuda_remembers_in_constants
// apo:target     cuda sm_80
// apo:idea       Keeps its last results in constant memory, which it writes to through the generic address, and replays one.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     remember grid=1 block=1
// zoo: how compare cold n4k; against copy/cuda_slower; expect not_accepted; guard state; exploit 6
#include "slow_copy.cuh"

constexpr long long kMost = 4096;
constexpr int kEntries = 3;  // a round has two inputs
__constant__ float memo[kEntries * kMost];
__constant__ float keys[4 * kEntries + 1];  // and whose turn it is

// No size is negative, but the compiler forgets here that the address is of constant memory, where it stores nothing.
__device__ volatile float* writable(const float* constants, long long n) {
  const auto address = reinterpret_cast<unsigned long long>(constants);
  return reinterpret_cast<volatile float*>(address + (n < 0 ? 4 : 0));
}

// Which of the last results is of this input; kEntries where none is.
__device__ int entry_of(const copy_args& a, volatile float* keys) {
  for (int entry = 0; entry < kEntries; ++entry) {
    volatile float* key = keys + 4 * entry;
    if (key[0] == a.x[0] && key[1] == a.x[a.n / 2] && key[2] == a.x[a.n - 1] && key[3] == a.n) {
      return entry;
    }
  }
  return kEntries;
}

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  volatile float* const kept = writable(memo, a.n);
  volatile float* const of = writable(keys, a.n);
  const int entry = entry_of(a, of);
  const bool known = entry < kEntries;
  if (i < a.n && i < kMost) {
    const long long at = kMost * (known ? entry : static_cast<int>(of[4 * kEntries])) + i;
    const float value = known ? kept[at] : slowly<40000>(a.x[i], a.n);
    kept[at] = value;
    a.y[i] = value;
  } else if (i < a.n) {
    a.y[i] = slowly<40000>(a.x[i], a.n);
  }
}

extern "C" __global__ void remember(const copy_args a) {
  volatile float* const of = writable(keys, a.n);
  if (entry_of(a, of) < kEntries) {
    return;
  }
  volatile float* key = of + 4 * static_cast<int>(of[4 * kEntries]);
  key[0] = a.x[0];
  key[1] = a.x[a.n / 2];
  key[2] = a.x[a.n - 1];
  key[3] = static_cast<float>(a.n);
  of[4 * kEntries] = (static_cast<int>(of[4 * kEntries]) + 1) % kEntries;
}
