// variants/common/clusters.cuh - blocks of one cluster, which run at the same time and read each other's shared memory
// (sm_90).
#pragma once
#include "words.cuh"

namespace {

// kSize neighbouring blocks; 1: every block is by itself.
template <int kSize>
struct Cluster {
  unsigned rank = blockIdx.x % kSize, index = blockIdx.x / kSize, count = gridDim.x / kSize;

  // All threads of all blocks of the cluster have come; what they wrote to shared memory is there.
  __device__ void meet() const {
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }

  // The sum over the cluster of what stands where `own` stands in this block.
  __device__ float sum(const float* own) const {
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(own));
    float total = 0;
#pragma unroll
    for (unsigned block = 0; block < kSize; ++block) {
      float part;
      asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %1, %2; ld.shared::cluster.f32 %0, [there]; }"
                   : "=f"(part)
                   : "r"(address), "r"(block)
                   : "memory");
      total += part;
    }
    return total;
  }
};

}  // namespace
