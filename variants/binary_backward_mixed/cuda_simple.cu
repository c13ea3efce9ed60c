// apo:variant    binary_backward_mixed/cuda_simple
// apo:target     cuda sm_80
// apo:technique  scalar-loop
// apo:idea       A thread an element; atomics into fp32 sums, which a last kernel rounds once.
// apo:requires   d0*d1*d2*d3*d4*d5*d6*d7 <= 549755813632
// apo:scratch    sums 4*(kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1)
// apo:launch     zero grid=max(1,min(4*SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),256))) block=256
// apo:launch     gradients grid=max(1,ceil_div(d0*d1*d2*d3*d4*d5*d6*d7,256)) block=256
// apo:launch     round_sums grid=max(1,min(4*SMS,ceil_div((kept/128%2?d0:1)*(kept/64%2?d1:1)*(kept/32%2?d2:1)*(kept/16%2?d3:1)*(kept/8%2?d4:1)*(kept/4%2?d5:1)*(kept/2%2?d6:1)*(kept%2?d7:1),256))) block=256
#include "binary_backward_mixed.args.h"
#include "broadcast.cuh"

extern "C" __global__ void zero(const binary_backward_mixed_args a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  zero_fill(static_cast<float*>(a.sums), shape.b_elements);
}

extern "C" __global__ void gradients(const binary_backward_mixed_args a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  unsigned lanes = 0;
  const long long i = own_element(shape.elements, lanes);
  if (i < shape.elements) {
    long long at_b = 0, rest = i;
    for (int d = shape.rank - 1; d >= 0; --d) {
      at_b += rest % shape.extent[d] * shape.b_stride[d];
      rest /= shape.extent[d];
    }
    add_gradients(a, i, i, at_b, static_cast<float*>(a.sums), lanes);
  }
}

extern "C" __global__ void round_sums(const binary_backward_mixed_args a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  const long long count = a.need_dB ? shape.b_elements : 0;
  for (long long j = 1LL * blockIdx.x * blockDim.x + threadIdx.x; j < count; j += 1LL * gridDim.x * blockDim.x) {
    put(static_cast<const float*>(a.sums)[j], a.dB + j);
  }
}
