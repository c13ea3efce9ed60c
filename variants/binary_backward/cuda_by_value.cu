// apo:variant    binary_backward/cuda_by_value
// apo:target     cuda sm_80
// apo:technique  by-value-metadata
// apo:parent     binary_backward/cuda_effective_dims
// apo:idea       The dimensions are arguments of the kernel, from which each block makes its strides in shared memory: no launch for them.
// apo:predict    1.0x..1.2x over parent: 18 of 22 loads of a warp are metadata in the document; one launch of three goes.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632
// apo:launch     zero grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
// apo:launch     gradients grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
#include "binary_backward.args.h"
#include "broadcast.cuh"

extern "C" __global__ void zero(const binary_backward_args a) {
  zero_gradients(a);
}

namespace {

__device__ long long offset_in_b(const Broadcast& shape, long long rest) {
  long long offset = 0;
  for (int d = shape.rank - 1; d >= 0; --d) {
    const long long outer = d == 0 ? 0 : rest / shape.extent[d];
    offset += (rest - outer * shape.extent[d]) * shape.b_stride[d];
    rest = outer;
  }
  return offset;
}

}  // namespace

extern "C" __global__ void gradients(const binary_backward_args a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  unsigned lanes = 0;
  const long long i = own_element(shape.elements, lanes);
  if (i < shape.elements) {
    add_gradients(a, i, i, offset_in_b(shape, i), a.dB, lanes);
  }
}
