// apo:variant    binary_backward/cuda_naive
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread an element: its index is divided by every dimension for A and again for B; atomics into a dB that was zeroed.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632
// apo:scratch    shape 256
// apo:launch     describe grid=1 block=32
// apo:launch     zero grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
// apo:launch     gradients grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
#include "binary_backward.args.h"
#include "broadcast.cuh"

// The dimensions lie in memory, as a tensor library hands them to a kernel.
extern "C" __global__ void describe(const binary_backward_args a) {
  if (threadIdx.x == 0) {
    *static_cast<Broadcast*>(a.shape) = Broadcast::as_given(a);
  }
}

extern "C" __global__ void zero(const binary_backward_args a) {
  const Broadcast& shape = *static_cast<const Broadcast*>(a.shape);
  zero_fill(a.dA, a.need_dA ? shape.elements : 0);
  zero_fill(a.dB, a.need_dB ? shape.b_elements : 0);
}

namespace {

__device__ long long offset_of(const Broadcast& shape, long long index, const long long* strides) {
  long long offset = 0;
  for (int d = 0; d < shape.rank; ++d) {
    offset += index / shape.stride[d] % shape.extent[d] * strides[d];
  }
  return offset;
}

}  // namespace

extern "C" __global__ void gradients(const binary_backward_args a) {
  const Broadcast& shape = *static_cast<const Broadcast*>(a.shape);
  unsigned lanes = 0;
  const long long i = own_element(shape.elements, lanes);
  if (i < shape.elements) {
    add_gradients(a, i, offset_of(shape, i, shape.stride), offset_of(shape, i, shape.b_stride), a.dB, lanes);
  }
}
