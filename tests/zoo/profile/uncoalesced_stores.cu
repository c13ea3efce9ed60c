// apo:variant    zoo_transpose/uncoalesced_stores
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       A transpose whose lanes store to 32 rows.
// apo:launch     kernel grid=ceil_div(n,256),n block=256
// zoo: expect uncoalesced-access
#include "zoo_transpose.args.h"

extern "C" __global__ void kernel(const zoo_transpose_args a) {
  const long long row = blockIdx.y;
  const long long column = 256LL * blockIdx.x + threadIdx.x;
  if (column < a.n) {
    a.y[column * a.n + row] = a.x[row * a.n + column];  // planted
  }
}
