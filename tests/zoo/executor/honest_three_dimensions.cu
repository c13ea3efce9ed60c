// apo:variant    copy/honest_three_dimensions
// apo:target     cuda sm_80
// apo:idea       Threads and blocks in three dimensions.
// apo:launch     kernel grid=2,ceil_div(n,512),2 block=8,4,4
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const long long block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const long long i = 128 * block + thread;
  if (i < a.n) {
    a.y[i] = a.x[i];
  }
}
