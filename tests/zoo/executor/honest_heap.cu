// apo:variant    copy/honest_heap
// apo:target     cuda sm_80
// apo:idea       Takes its buffer from the heap.
// apo:launch     kernel grid=ceil_div(n,128) block=128
// zoo: expect valid
#include "copy.args.h"

extern "C" __global__ void kernel(const copy_args a) {
  const long long i = 128LL * blockIdx.x + threadIdx.x;
  float* own = static_cast<float*>(malloc(sizeof(float)));
  if (i < a.n) {
    *own = a.x[i];
    a.y[i] = *own;
  }
  free(own);
}
