// apo:variant    zoo_copy/misaligned_rows
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       Rows of 32 bytes that begin in the middle of a sector, scattered over the tensor.
// apo:requires   n == 16777216 || n == 1048576 || n == 4096
// apo:launch     kernel grid=ceil_div(n,256) block=256
// zoo: expect uncoalesced-access
#include "zoo_copy.args.h"

// The number of rows of eight floats is a power of two, and the multiplier is odd: every row has its turn.
extern "C" __global__ void kernel(const zoo_copy_args a) {
  const long long i = 256LL * blockIdx.x + threadIdx.x;
  const long long rows = a.n / 8;
  const long long row = (i / 8 * 2654435761LL) & (rows - 1);
  const long long at = (8 * row + 4 + i % 8) & (a.n - 1);
  a.y[at] = a.x[at];  // planted
}
