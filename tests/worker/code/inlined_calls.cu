// tests/worker/code/inlined_calls.cu - two kernels that call helpers; inlined_calls.cubin is what nvcc 13.0 made of it:
// nvcc -arch=sm_90 -lineinfo -cubin -o inlined_calls.cubin inlined_calls.cu
#include "inlined_calls.h"

extern "C" __global__ void first(const unsigned* in, float* out) {
  out[threadIdx.x] = low(in[threadIdx.x]);
  out[threadIdx.x + 32] = sum_of_pair(in[threadIdx.x + 32]);
}

extern "C" __global__ void second(const unsigned* in, float* out) {
  out[threadIdx.x] = low(in[threadIdx.x]);
  out[7] = long_function(in, out);
}
