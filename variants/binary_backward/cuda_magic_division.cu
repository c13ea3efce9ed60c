// apo:variant    binary_backward/cuda_magic_division
// apo:target     cuda sm_80
// apo:technique  magic-division
// apo:parent     binary_backward/cuda_by_value
// apo:idea       A division by a dimension is a multiplication and a shift, in 32 bits.
// apo:predict    1.1x..2.5x over parent: a 64-bit division is a subroutine of some 100 instructions; this is four.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 < 2147483648
// apo:launch     zero grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
// apo:launch     gradients grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
#include "binary_backward.args.h"
#include "broadcast.cuh"

extern "C" __global__ void zero(const binary_backward_args a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  zero_fill(a.dA, a.need_dA ? shape.elements : 0);
  zero_fill(a.dB, a.need_dB ? shape.b_elements : 0);
}

namespace {

// Multiplications in place of divisions, exact for numbers below 2^31 (Granlund and Montgomery, 1994).
struct Magic {
  unsigned long long factor[8];
  int shift[8];

  __device__ void of(const Broadcast& shape) {
    for (int d = 0; d < shape.rank; ++d) {
      const unsigned long long divisor = shape.extent[d] > 0 ? shape.extent[d] : 1;
      for (shift[d] = 31; (1ull << (shift[d] - 31)) < divisor; ++shift[d]) {
      }
      factor[d] = ((1ull << shift[d]) + divisor - 1) / divisor;
    }
  }
  __device__ long long offset_in_b(const Broadcast& shape, unsigned rest) const {
    unsigned offset = 0;
    for (int d = shape.rank - 1; d >= 0; --d) {
      const unsigned outer = static_cast<unsigned>(rest * factor[d] >> shift[d]);
      offset += (rest - outer * static_cast<unsigned>(shape.extent[d])) * static_cast<unsigned>(shape.b_stride[d]);
      rest = outer;
    }
    return offset;
  }
};

}  // namespace

extern "C" __global__ void gradients(const binary_backward_args a) {
  __shared__ Broadcast shape;
  __shared__ Magic magic;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
    magic.of(shape);
  }
  __syncthreads();
  unsigned lanes = 0;
  const long long i = own_element(shape.elements, lanes);
  if (i < shape.elements) {
    add_gradients(a, i, i, magic.offset_in_b(shape, static_cast<unsigned>(i)), a.dB, lanes);
  }
}
