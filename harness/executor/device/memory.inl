// harness/executor/device/memory.inl - loads and stores that are functions: cache hints, atomics, memcpy, asynchronous
// copies, address spaces.
#pragma once

#include <string.h>  // before its functions become macros

#include "vector_types.h"

template <class T>
APO_CPU_INLINE T __ldg(const T* p) {
  return *p;
}
template <class T>
APO_CPU_INLINE T __ldcg(const T* p) {
  return *p;
}
template <class T>
APO_CPU_INLINE T __ldca(const T* p) {
  return *p;
}
template <class T>
APO_CPU_INLINE T __ldcs(const T* p) {
  return *p;
}
template <class T>
APO_CPU_INLINE T __ldlu(const T* p) {
  return *p;
}
template <class T>
APO_CPU_INLINE T __ldcv(const T* p) {
  return *p;
}
template <class T>
APO_CPU_INLINE void __stcg(T* p, T value) {
  *p = value;
}
template <class T>
APO_CPU_INLINE void __stcs(T* p, T value) {
  *p = value;
}
template <class T>
APO_CPU_INLINE void __stwb(T* p, T value) {
  *p = value;
}
template <class T>
APO_CPU_INLINE void __stwt(T* p, T value) {
  *p = value;
}

namespace apo_cpu {

// `update` turns the old value into the new one. Other blocks run at the same time, so the exchange is a real atomic.
template <Access kKind = Access::atomic, class T, class Update>
APO_CPU_UNSEEN [[gnu::noinline]] T atomic(T* p, Update update) {
  runtime->access(reinterpret_cast<Address>(p), sizeof(T), kKind, true, __builtin_return_address(0));
  T old, next;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do {
    next = update(old);
  } while (!__atomic_compare_exchange(p, &old, &next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  call_yield();
  return old;
}

template <class T>
struct Same {
  using Type = T;
};

}  // namespace apo_cpu

#define APO_CPU_ATOMIC_OF(NAME, KIND, NEXT)                                \
  template <class T>                                                       \
  APO_CPU_INLINE T NAME(T* p, typename apo_cpu::Same<T>::Type value) {     \
    return apo_cpu::atomic<KIND>(p, [value](T old) -> T { return NEXT; }); \
  }
#define APO_CPU_ATOMIC(NAME, NEXT)                                     \
  APO_CPU_ATOMIC_OF(NAME, apo_cpu::Access::atomic, NEXT)               \
  APO_CPU_ATOMIC_OF(NAME##_block, apo_cpu::Access::block_atomic, NEXT) \
  APO_CPU_ATOMIC_OF(NAME##_system, apo_cpu::Access::atomic, NEXT)
APO_CPU_ATOMIC(atomicAdd, old + value)
APO_CPU_ATOMIC(atomicSub, old - value)
APO_CPU_ATOMIC(atomicExch, (static_cast<void>(old), value))
APO_CPU_ATOMIC(atomicMin, value < old ? value : old)
APO_CPU_ATOMIC(atomicMax, old < value ? value : old)
APO_CPU_ATOMIC(atomicAnd, old& value)
APO_CPU_ATOMIC(atomicOr, old | value)
APO_CPU_ATOMIC(atomicXor, old ^ value)
APO_CPU_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
APO_CPU_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef APO_CPU_ATOMIC
#undef APO_CPU_ATOMIC_OF
#define APO_CPU_ATOMIC_CAS(NAME, KIND)                                                                           \
  template <class T>                                                                                             \
  APO_CPU_INLINE T NAME(T* p, typename apo_cpu::Same<T>::Type expected, typename apo_cpu::Same<T>::Type value) { \
    return apo_cpu::atomic<KIND>(p, [=](T old) { return old == expected ? value : old; });                       \
  }
APO_CPU_ATOMIC_CAS(atomicCAS, apo_cpu::Access::atomic)
APO_CPU_ATOMIC_CAS(atomicCAS_block, apo_cpu::Access::block_atomic)
APO_CPU_ATOMIC_CAS(atomicCAS_system, apo_cpu::Access::atomic)
#undef APO_CPU_ATOMIC_CAS

// Vectors are added element by element, as on a GPU.
APO_CPU_INLINE float2 atomicAdd(float2* p, float2 value) {
  return {atomicAdd(&p->x, value.x), atomicAdd(&p->y, value.y)};
}
APO_CPU_INLINE float4 atomicAdd(float4* p, float4 value) {
  return {atomicAdd(&p->x, value.x), atomicAdd(&p->y, value.y), atomicAdd(&p->z, value.z), atomicAdd(&p->w, value.w)};
}

namespace apo_cpu {

// Copies by the byte, so that each is seen where the caller stands.
APO_CPU_UNSEEN [[gnu::noinline]] inline void* copy(void* to, const void* from, size_t bytes) {
  check(from, bytes, Access::read, false, __builtin_return_address(0));
  check(to, bytes, Access::write, false, __builtin_return_address(0));
  return __builtin_memcpy(to, from, bytes);
}
APO_CPU_UNSEEN [[gnu::noinline]] inline void* fill(void* to, int byte, size_t bytes) {
  check(to, bytes, Access::write, false, __builtin_return_address(0));
  return __builtin_memset(to, byte, bytes);
}

}  // namespace apo_cpu

#define memcpy(...) ::apo_cpu::copy(__VA_ARGS__)
#define memset(...) ::apo_cpu::fill(__VA_ARGS__)

inline size_t __cvta_generic_to_shared(const void* p) {
  return apo_cpu::call_shared_offset(p);
}
inline void* __cvta_shared_to_generic(size_t offset) {
  return apo_cpu::call_shared_address(offset);
}
inline size_t __cvta_generic_to_global(const void* p) {
  return reinterpret_cast<size_t>(p);
}

// Nothing is copied before the wait: whoever reads the destination earlier is found out.
APO_CPU_UNSEEN [[gnu::noinline]] inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes,
                                                                     size_t zeros = 0) {
  apo_cpu::call_start_copy(reinterpret_cast<apo_cpu::Address>(to), reinterpret_cast<apo_cpu::Address>(from), bytes,
                           zeros, __builtin_return_address(0));
}
inline void __pipeline_commit() {
  apo_cpu::call_commit_copies();
}
inline void __pipeline_wait_prior(size_t groups) {
  apo_cpu::call_wait_copies(static_cast<unsigned>(groups));
}

inline long long clock64() {
  return static_cast<long long>(apo_cpu::call_clock());
}
extern "C" [[gnu::visibility("hidden")]] inline long clock() noexcept {  // as <time.h> declares it
  return static_cast<int>(clock64());
}
extern "C" int printf(const char*, ...);
