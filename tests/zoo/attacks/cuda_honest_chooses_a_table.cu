// apo:variant    copy/cuda_honest_chooses_a_table
// apo:target     cuda sm_80
// apo:idea       Honest: takes the generic address of a table in constant memory, as the attack does, but only reads there.
// apo:launch     k grid=ceil_div(n+8,256) block=256
// zoo: how compare cold n4k; against copy/cuda_slow; expect faster; cpu valid
#include "copy.args.h"

__constant__ const int kBackwards[8] = {7, 6, 5, 4, 3, 2, 1, 0};

extern "C" __global__ void k(const copy_args a) {
  __shared__ int forwards[8];
  if (threadIdx.x < 8) {
    forwards[threadIdx.x] = static_cast<int>(threadIdx.x);
  }
  __syncthreads();
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const int* order = i / 8 % 2 == 0 ? forwards : kBackwards;  // of either memory
  const long long j = i / 8 * 8 + order[i % 8];
  if (j < a.n) {
    a.y[j] = a.x[j];
  }
}
