// apo:variant    binary_backward/cuda_one_pass_offsets
// apo:target     cuda sm_80
// apo:technique  one-pass-offsets
// apo:parent     binary_backward/cuda_naive
// apo:idea       One walk over the dimensions from the last one: one remainder and one division each, for both operands.
// apo:predict    1.1x..1.5x over parent: the document measured 1.1x to 1.4x on six small shapes, and 1.40x on its slowest call.
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

extern "C" __global__ void gradients(const binary_backward_args a) {
  const Broadcast& shape = *static_cast<const Broadcast*>(a.shape);
  unsigned lanes = 0;
  const long long i = own_element(shape.elements, lanes);
  if (i < shape.elements) {
    long long at_a = 0, at_b = 0, rest = i;
    for (int d = shape.rank - 1; d >= 0; --d) {
      const long long index = rest % shape.extent[d];
      rest /= shape.extent[d];
      at_a += index * shape.stride[d];
      at_b += index * shape.b_stride[d];
    }
    add_gradients(a, i, at_a, at_b, a.dB, lanes);
  }
}
