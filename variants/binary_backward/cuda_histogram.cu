// apo:variant    binary_backward/cuda_histogram
// apo:target     cuda sm_80
// apo:technique  two-pass-histogram
// apo:technique  persistent-grid
// apo:parent     binary_backward/cuda_no_zero_fill
// apo:idea       As many blocks as the GPU holds; each sums its elements for dB in shared memory and adds that once.
// apo:predict    1.0x..5x over parent: SMS*BLOCKS_PER_SM global atomics an element of B, whatever the size of A; shared ones take their place.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 < 2147483648 && ((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1) <= 12288 || (kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1) == d0*d1*d2*d3*d4*d5*d6*d7)
// apo:tune       BLOCKS_PER_SM 4,2,8
// apo:launch     zero grid=max(1,min(4*SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),256))) block=256
// apo:launch     gradients grid=max(1,min(SMS*BLOCKS_PER_SM,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256))) block=256 shared=(kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1)==d0*d1*d2*d3*d4*d5*d6*d7?0:4*((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1))
#include "binary_backward.args.h"
#include "magic_division.cuh"

extern "C" __global__ void zero(const binary_backward_args a) {
  zero_sums(a);
}

extern "C" __global__ void gradients(const binary_backward_args a) {
  extern __shared__ float bins[];
  __shared__ Broadcast shape;
  __shared__ Magic magic;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
    magic.of(shape);
  }
  __syncthreads();
  const bool repeats = a.need_dB && shape.elements != shape.b_elements;
  for (long long j = threadIdx.x; repeats && j < shape.b_elements; j += 256) {
    bins[j] = 0;
  }
  __syncthreads();
  for (long long i = 256LL * blockIdx.x + threadIdx.x; i < shape.elements; i += 256LL * gridDim.x) {
    const long long at_b = magic.offset_in_b(shape, static_cast<unsigned>(i));
    const float gradient = __ldg(a.g + i);
    const float left = reads_a(a) ? __ldg(a.A + i) : 0, right = reads_b(a) ? __ldg(a.B + at_b) : 0;
    if (a.need_dA) {
      a.dA[i] = gradient * gradient_of_a(a.op, left, right);
    }
    if (a.need_dB) {
      const float term = gradient * gradient_of_b(a.op, left, right);
      if (repeats) {
        atomicAdd(bins + at_b, term);
      } else {
        a.dB[i] = term;
      }
    }
  }
  __syncthreads();
  for (long long j = threadIdx.x; repeats && j < shape.b_elements; j += 256) {
    if (bins[j] != 0) {
      atomicAdd(a.dB + j, bins[j]);
    }
  }
}
