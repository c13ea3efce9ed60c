// apo:variant    zoo_copy/occupancy_shared
// apo:target     cuda sm_80
// apo:technique  zoo
// apo:idea       A block takes so much shared memory that an SM has room for one.
// apo:launch     kernel grid=4*SMS block=256 shared=204800
// zoo: expect low-occupancy
#include "zoo_copy.args.h"

extern "C" __global__ void kernel(const zoo_copy_args a) {
  extern __shared__ float stage[];
#pragma unroll 1
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < a.n; i += 256LL * gridDim.x) {
    stage[threadIdx.x] = a.x[i];
    a.y[i] = stage[threadIdx.x];
  }
}
