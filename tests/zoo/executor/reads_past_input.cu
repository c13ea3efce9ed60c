// apo:variant    copy/reads_past_input
// apo:target     cuda sm_80
// apo:idea       Every thread reads its right neighbour, the last one too.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 30; evidence out-of-bounds access, of x, which has 4004
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    const float next = a.x[i + 1];  // found here
    a.y[i] = next == next ? a.x[i] : 0;
  }
}
