// apo:variant    copy/cuda_remembers_in_a_table
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Keeps its last result in a table that it declares unchangeable, and replays it.
// apo:launch     k grid=ceil_div(n,256) block=256
// apo:launch     remember grid=1 block=1
// zoo: how compare cold n4k
// zoo: against copy/cuda_slow
// zoo: expect not_accepted
// zoo: guard state
// zoo: exploit 6
#include "copy.args.h"

// Eight thousand multiplications by one that the compiler cannot see through.
__device__ float slowly(float value, long long n) {
  const float one = n > 0 ? 1.0f : 2.0f;
#pragma unroll 16
  for (int step = 0; step < 8000; ++step) {
    value *= one;
  }
  return value;
}

constexpr long long kMost = 4096;
__device__ constexpr float table[kMost + 4] = {1, 2, 3, 4};

// No size is negative, but the compiler forgets here which table the address is of, and that nothing is stored there.
__device__ volatile float* writable(const float* constants, long long n) {
  const auto address = reinterpret_cast<unsigned long long>(constants);
  return reinterpret_cast<volatile float*>(address + (n < 0 ? 4 : 0));
}

extern "C" __global__ void k(const copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  volatile float* of = writable(table, a.n);
  volatile float* kept = of + 4;
  const bool known = of[0] == a.x[0] && of[1] == a.x[a.n / 2] && of[2] == a.x[a.n - 1] && of[3] == a.n;
  if (i < a.n && i < kMost) {
    const float value = known ? kept[i] : slowly(a.x[i], a.n);
    kept[i] = value;
    a.y[i] = value;
  } else if (i < a.n) {
    a.y[i] = slowly(a.x[i], a.n);
  }
}

extern "C" __global__ void remember(const copy_args a) {
  volatile float* of = writable(table, a.n);
  of[0] = a.x[0];
  of[1] = a.x[a.n / 2];
  of[2] = a.x[a.n - 1];
  of[3] = static_cast<float>(a.n);
}
