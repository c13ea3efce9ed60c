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
#include "magic_division.cuh"

extern "C" __global__ void zero(const binary_backward_args a) {
  zero_gradients(a);
}

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
