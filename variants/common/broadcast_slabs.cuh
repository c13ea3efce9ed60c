// variants/common/broadcast_slabs.cuh - the binary backward on a GPU: the second kernel, which adds the slabs of dB.
#pragma once
#include "broadcast_plan.cuh"

namespace {

// What add_slabs() has to know, so that it needs no plan.
struct Slabs {
  long long count, b_elements;
};

template <class Args>
__device__ void tell_slabs(const Args& a, long long count, long long b_elements) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *static_cast<Slabs*>(a.slabs) = {count, b_elements};
  }
}

// The slabs of each element of dB, in an order that depends on their number only: up to 32 elements by 8 or more groups
// of slabs, and kAtOnce loads of a thread under way.
template <class Args>
__device__ void add_slabs(const Args& a) {
  constexpr int kAtOnce = 8;
  __shared__ float sums[kTileThreads];
  const Slabs slabs = *static_cast<const Slabs*>(a.slabs);
  if (!a.need_dB || slabs.count < 2) {
    return;
  }
  int across = 32;
  while (across > 1 && across / 2 >= slabs.b_elements) {
    across /= 2;
  }
  const int x = threadIdx.x & (across - 1), groups = kTileThreads / across;
  const long long y = threadIdx.x / across;
  for (long long first = 1LL * across * blockIdx.x; first < slabs.b_elements; first += 1LL * across * gridDim.x) {
    const long long j = first + x;
    const float* from = static_cast<const float*>(a.partials) + j;
    float sum = 0;
    for (long long slab = y; j < slabs.b_elements && slab < slabs.count; slab += kAtOnce * groups) {
      float part[kAtOnce];
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        part[u] = slab + u * groups < slabs.count ? from[(slab + u * groups) * slabs.b_elements] : 0;
      }
#pragma unroll
      for (int u = 0; u < kAtOnce; ++u) {
        sum += part[u];
      }
    }
    for (int half = groups / 2; half > 0; half /= 2) {
      sums[threadIdx.x] = sum;
      __syncthreads();
      if (y < half) {
        sum += sums[threadIdx.x + half * across];
      }
      __syncthreads();
    }
    if (y == 0 && j < slabs.b_elements) {
      put(sum, a.dB + j);
    }
  }
}

}  // namespace
