// apo:variant  twice/right_clock
// apo:target   cuda sm_80
// apo:idea     Waits for some cycles between load and store.
// apo:launch   kernel grid=ceil_div(n,128) block=128
#include "twice.args.h"

extern "C" __global__ void kernel(const twice_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  const long long begin = clock64();
  const float value = i < a.n ? a.x[i] : 0;
  while (clock64() - begin < 100) {
  }
  if (i < a.n)
    a.y[i] = 2 * value;
}
