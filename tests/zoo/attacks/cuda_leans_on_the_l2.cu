// apo:variant    copy/cuda_leans_on_the_l2
// apo:target     cuda sm_80
// apo:idea       Every load waits for the one before, which is quick as long as the input is still in the L2 from the call before.
// apo:launch     k grid=ceil_div(n,8192) block=256
// zoo: how compare cold n1m; against copy/cuda_in_one_go; expect not_accepted; cpu valid
#include "copy.args.h"

extern "C" __global__ void k(const copy_args a) {
  const long long first = 8192LL * blockIdx.x + threadIdx.x;
  long long late = 0;  // 0, but known only when the load before is there
  for (int e = 0; e < 32 && first + 256 * e + late < a.n; ++e) {
    const float value = a.x[first + 256 * e + late];
    a.y[first + 256 * e] = value;
    late = __float_as_uint(value) == 0x7fc12345u;
  }
}
