// apo:variant    copy/honest_shuffles
// apo:target     cuda sm_80
// apo:idea       All kinds of shuffles, all lanes of the mask come.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  float x = i < a.n ? a.x[i] : 0;
  x = __shfl_xor_sync(0xffffffffu, x, 5);
  x = __shfl_xor_sync(0xffffffffu, x, 5);
  const unsigned lane = threadIdx.x % 32;
  const float up = __shfl_up_sync(0xffffffffu, x, 1);        // lane - 1, lane 0 its own
  const float back = __shfl_down_sync(0xffffffffu, up, 1);   // x again, but lane 31 has that of lane 30
  const float own = __shfl_sync(0xffffffffu, x, lane % 8, 8);  // within groups of eight lanes
  const double wide = __shfl_sync(0xffffffffu, static_cast<double>(own), static_cast<int>(lane));
  if (i < a.n) {
    a.y[i] = lane == 31 ? static_cast<float>(wide) : back;
  }
}
