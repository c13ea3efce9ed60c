// apo:variant    binary_backward/cuda_no_zero_fill
// apo:target     cuda sm_80
// apo:technique  no-zero-fill
// apo:parent     binary_backward/cuda_loaded_once
// apo:idea       Only a dB that is a sum is zeroed; dA is not, and where B repeats along nothing dB is stored like dA.
// apo:predict    1.2x..1.6x over parent: dA is written once instead of twice, and equal shapes have neither zeroes nor atomics.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 < 2147483648
// apo:launch     zero grid=max(1,min(4*SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),256))) block=256
// apo:launch     gradients grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
#include "binary_backward.args.h"
#include "magic_division.cuh"

extern "C" __global__ void zero(const binary_backward_args a) {
  zero_sums(a);
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
      if (shape.elements == shape.b_elements) {
        a.dB[i] = term;
        return;
      }
      const bool shared = lanes == kAll && __all_sync(kAll, at_b == __shfl_sync(kAll, at_b, 0));
      term = shared ? sum_of_lanes(term) : term;
      if (!shared || threadIdx.x % 32 == 0) {
        atomicAdd(a.dB + at_b, term);
      }
    }
  }
}
