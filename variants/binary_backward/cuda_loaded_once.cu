// apo:variant    binary_backward/cuda_loaded_once
// apo:target     cuda sm_80
// apo:technique  loaded-once
// apo:parent     binary_backward/cuda_magic_division
// apo:idea       g, A and B are read through the read-only path before anything is stored, so that g is loaded once.
// apo:predict    1.0x..1.2x over parent: without restrict the store to dA makes the kernel load g again, 4 of 31 sectors of a warp.
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
    const long long at_b = magic.offset_in_b(shape, static_cast<unsigned>(i));
    const float gradient = __ldg(a.g + i);
    const float left = reads_a(a) ? __ldg(a.A + i) : 0, right = reads_b(a) ? __ldg(a.B + at_b) : 0;
    if (a.need_dA) {
      a.dA[i] = gradient * gradient_of_a(a.op, left, right);
    }
    if (a.need_dB) {
      float term = gradient * gradient_of_b(a.op, left, right);
      const bool shared = lanes == kAll && __all_sync(kAll, at_b == __shfl_sync(kAll, at_b, 0));
      term = shared ? sum_of_lanes(term) : term;
      if (!shared || threadIdx.x % 32 == 0) {
        atomicAdd(a.dB + at_b, term);
      }
    }
  }
}
