// apo:variant    zoo_copy/partial_sectors
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Each thread copies four neighbours one by one: a load uses 4 of every 16 bytes.
// apo:launch     kernel grid=ceil_div(n,1024) block=256
// zoo: expect uncoalesced-access
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long first = 4 * (256LL * blockIdx.x + threadIdx.x);
  const volatile float* x = a.x;  // one load each, as for fields of a record
#pragma unroll
  for (int field = 0; field < 4; ++field) {
    if (first + field < a.n) {
      a.y[first + field] = x[first + field];  // planted
    }
  }
}
