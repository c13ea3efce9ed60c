// apo:variant    copy/honest_votes_of_block
// apo:target     cuda sm_80
// apo:idea       Barriers that count and vote.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  const int inside = __syncthreads_count(i < a.n);
  const bool full = __syncthreads_and(i < a.n) != 0, some = __syncthreads_or(i < a.n) != 0;
  if (some && full == (inside == 128) && i < a.n) {
    a.y[i] = a.x[i];
  }
}
