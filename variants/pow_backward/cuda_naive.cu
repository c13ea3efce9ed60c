// apo:variant    pow_backward/cuda_naive
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread an element, with powf for each gradient and logf; atomics into a dB that was zeroed.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632
// apo:launch     zero grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
// apo:launch     gradients grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
#include "broadcast.cuh"
#include "pow_backward.args.h"

extern "C" __global__ void zero(const pow_backward_args a) {
  zero_gradients(a);
}

extern "C" __global__ void gradients(const pow_backward_args a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  const long long i = 1LL * blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= shape.elements) {
    return;
  }
  const long long at_b = shape.offset_in_b(i);
  const float left = a.A[i], right = a.B[at_b];
  if (a.need_dA) {
    a.dA[i] = a.g[i] * (right * powf(left, right - 1));
  }
  if (a.need_dB) {
    atomicAdd(a.dB + at_b, a.g[i] * (powf(left, right) * logf(left)));
  }
}
