// variants/common/broadcast_scratch.cuh - a thread an element; dB is summed in fp32 scratch and rounded once.
#pragma once
#include "broadcast.cuh"

namespace {

// Zeroes the sums.
template <class Args>
__device__ void zero_scratch(const Args& a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  zero_fill(static_cast<float*>(a.sums), shape.b_elements);
}

// Adds the gradient of B to the sums, and stores that of A.
template <class Args>
__device__ void add_to_scratch(const Args& a) {
  __shared__ Broadcast shape;
  if (threadIdx.x == 0) {
    shape = Broadcast::compressed(a);
  }
  __syncthreads();
  unsigned lanes = 0;
  const long long i = own_element(shape.elements, lanes);
  if (i < shape.elements) {
    add_gradients(a, i, i, shape.offset_in_b(i), static_cast<float*>(a.sums), lanes);
  }
}

// Stores the rounded sums as dB.
template <class Args>
__device__ void round_scratch(const Args& a) {
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

}  // namespace
