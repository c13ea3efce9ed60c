// variants/e88_backward/segment_cache.cuh - an entry of the cache in memory between replay and reverse steps.
#pragma once
#include "e88_state.cuh"

namespace {

// L2_PERSISTENCE: the cache of a segment is written once and read twice within microseconds. An evict-last hint keeps
// the streams of inputs and gradients from pushing it out of the L2.
#if L2_PERSISTENCE
class Entry {
 public:
  class Element {
   public:
    __device__ Element(bf16* at, unsigned long long policy) : at_(at), policy_(policy) {}
    __device__ void operator=(bf16 value) const {
      asm volatile("st.global.L2::cache_hint.b16 [%0], %1, %2;" ::"l"(at_), "h"(__bfloat16_as_ushort(value)),
                   "l"(policy_)
                   : "memory");
    }
    __device__ operator bf16() const {
      unsigned short bits;
      asm volatile("ld.global.L2::cache_hint.b16 %0, [%1], %2;" : "=h"(bits) : "l"(at_), "l"(policy_) : "memory");
      return __ushort_as_bfloat16(bits);
    }

   private:
    bf16* at_;
    unsigned long long policy_;
  };
  __device__ Entry(bf16* first) : first_(first) {
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy_));
  }
  __device__ Element operator[](int i) const { return {first_ + i, policy_}; }
  __device__ Entry operator+(int i) const { return {first_ + i, policy_}; }

 private:
  __device__ Entry(bf16* first, unsigned long long policy) : first_(first), policy_(policy) {}

  bf16* first_;
  unsigned long long policy_;
};

inline __device__ float load(const Entry::Element& element) {
  return load(static_cast<bf16>(element));
}
#else
using Entry = bf16*;
#endif

}  // namespace
