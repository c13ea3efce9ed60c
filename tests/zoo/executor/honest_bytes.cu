// apo:variant    copy/honest_bytes
// apo:target     cuda sm_80
// apo:idea       Neighbouring threads write neighbouring bytes and halves of one word.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  __shared__ unsigned char bytes[128];
  __shared__ unsigned short halves[128];
  bytes[threadIdx.x] = threadIdx.x;
  halves[threadIdx.x] = 300 + threadIdx.x;
  __syncthreads();
  const int other = 127 - threadIdx.x;
  if (i < a.n && bytes[other] == other && halves[other] == 300 + other) {
    a.y[i] = a.x[i];
  }
}
