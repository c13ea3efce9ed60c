// apo:variant    binary_backward/cuda_effective_dims
// apo:target     cuda sm_80
// apo:technique  effective-dims
// apo:parent     binary_backward/cuda_one_pass_offsets
// apo:idea       A's offset is the index; dimensions of 1 are left out and neighbours merged, so that B's needs few divisions.
// apo:predict    1.2x..2.5x over parent: three dimensions become one or two; the document gives no number that can be read.
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
    *static_cast<Broadcast*>(a.shape) = Broadcast::compressed(a);
  }
}

extern "C" __global__ void zero(const binary_backward_args a) {
  const Broadcast& shape = *static_cast<const Broadcast*>(a.shape);
  zero_fill(a.dA, a.need_dA ? shape.elements : 0);
  zero_fill(a.dB, a.need_dB ? shape.b_elements : 0);
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
  const Broadcast& shape = *static_cast<const Broadcast*>(a.shape);
  unsigned lanes = 0;
  const long long i = own_element(shape.elements, lanes);
  if (i < shape.elements) {
    add_gradients(a, i, i, offset_in_b(shape, i), a.dB, lanes);
  }
}
