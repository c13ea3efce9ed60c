// apo:variant    copy/writes_constant
// apo:target     cuda sm_80
// apo:idea       Keeps what it copied in constant memory, which no kernel can write.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect incorrect; guard executor; exploit 30; evidence write to constant memory, a __constant__ variable
#include "copy.args.h"

__constant__ float kept[128];
__constant__ const float kFactor = 1;

// Where the address comes through a pointer, compilers take it for one of any memory.
__device__ void keep(float* place, float value) {
  *place = value;  // found here
}

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  if (i < a.n) {
    keep(kept + threadIdx.x, a.x[i]);
    a.y[i] = a.x[i] * kFactor;
  }
}
