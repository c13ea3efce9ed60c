// tests/zoo/attacks/kept_results.cuh - kernels that keep their last results and replay one.
#pragma once

#include "slow_copy.cuh"

constexpr int kEntries = 3;  // a round has two inputs

// No size is negative, but the compiler forgets here where the address is of, and that nothing is stored there.
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

// `kept` holds kEntries results of at most `most` elements; `of` their keys, and whose turn it is.
template <int kSteps>
__device__ void copy_or_replay(const copy_args& a, volatile float* kept, long long most, volatile float* of) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const int entry = entry_of(a, of);
  const bool known = entry < kEntries;
  if (i < a.n && i < most) {
    const long long at = most * (known ? entry : static_cast<int>(of[4 * kEntries])) + i;
    const float value = known ? kept[at] : slowly<kSteps>(a.x[i], a.n);
    kept[at] = value;
    a.y[i] = value;
  } else if (i < a.n) {
    a.y[i] = slowly<kSteps>(a.x[i], a.n);
  }
}

// In a launch behind that, of one thread.
__device__ void keep(const copy_args& a, volatile float* of) {
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
