// apo:variant    zoo_copy/many_matrices
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Products of small matrices that the result does not need.
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect tensor-pipe
// zoo: workload n1m
// zoo: cpu no equivalent
#include "zoo_copy.args.h"

// d = a b + d, 16 by 8 by 16, bfloat16 with float sums.
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const unsigned some = 0x3c003c00u + threadIdx.x;  // two small numbers
  const unsigned left[4] = {some, some + 1, some + 2, some + 3};
  const unsigned right[2] = {some + 4, some + 5};
  float sums[4][4] = {};
#pragma unroll 4
  for (int step = 0; step < 64; ++step) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      multiply(sums[j], left, right);
    }
  }
  if (i < a.n) {
    a.y[i] = fmaf(0.0f, sums[0][0] + sums[1][1] + sums[2][2] + sums[3][3], a.x[i]);
  }
}
