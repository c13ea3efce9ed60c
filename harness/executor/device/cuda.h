// harness/executor/device/cuda.h - the vocabulary of CUDA C++ for a host compiler. Included before a device variant
// that is built for the CPU.
#pragma once

#include <stdint.h>

#include "hooks.h"

#define __CUDA_ARCH__ 900
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13  // of the toolkit that this project builds with
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define HUGE_VAL __builtin_inf()

// Everything is inlined into the kernel, as on a GPU: GCC does not announce the store of a small struct that a call
// returns.
#define __global__ __attribute__((flatten))
#define __device__
#define __host__
// The linker gathers these sections (executor_builder.cpp), each of one declaration: GCC puts no constant variable
// beside one that is not.
#define APO_CPU_TEXT_OF(NUMBER) #NUMBER
#define APO_CPU_TEXT(NUMBER) APO_CPU_TEXT_OF(NUMBER)
#define __constant__ __attribute__((section("apo_constants." APO_CPU_TEXT(__COUNTER__))))
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
// A block runs in one thread of the CPU. `static __shared__` is the same as `__shared__` in a function; an `extern` one
// is given the block's dynamic shared memory when the object is linked. constinit: no constructor runs, as on a GPU.
#define __shared__ __constinit thread_local

#include "math.h"
#include "math.inl"
#include "memory.inl"
#include "ptx.h"
#include "sync.inl"
#include "vector_types.h"

#define threadIdx (::apo_cpu::uint3_of(::apo_cpu::self().thread))
#define blockIdx (::apo_cpu::uint3_of(::apo_cpu::self().block))
#define blockDim (::apo_cpu::dim3_of(::apo_cpu::self().block_dim))
#define gridDim (::apo_cpu::dim3_of(::apo_cpu::self().grid_dim))
inline constexpr int warpSize = 32;
// The heap. The linker puts these in the place of the functions that they are named for: see --wrap of ld.
#define APO_CPU_TAKES(NAME)                                                              \
  extern "C" void* __real_##NAME(size_t);                                                \
  extern "C" [[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline                         \
      __attribute__((used)) void* __wrap_##NAME(size_t bytes) {                          \
    return apo_cpu::call_in_kernel() ? apo_cpu::call_heap(bytes) : __real_##NAME(bytes); \
  }
#define APO_CPU_GIVES_BACK(NAME, PARAMETERS, ARGUMENTS)                                                                \
  extern "C" void __real_##NAME PARAMETERS;                                                                            \
  extern "C" [[gnu::visibility("hidden")]] APO_CPU_UNSEEN inline __attribute__((used)) void __wrap_##NAME PARAMETERS { \
    if (!apo_cpu::call_in_kernel()) {                                                                                  \
      __real_##NAME ARGUMENTS;                                                                                         \
    }                                                                                                                  \
  }
APO_CPU_TAKES(malloc)
APO_CPU_TAKES(_Znwm)
APO_CPU_TAKES(_Znam)
APO_CPU_GIVES_BACK(free, (void* p), (p))
APO_CPU_GIVES_BACK(_ZdlPv, (void* p), (p))
APO_CPU_GIVES_BACK(_ZdaPv, (void* p), (p))
APO_CPU_GIVES_BACK(_ZdlPvm, (void* p, size_t bytes), (p, bytes))
APO_CPU_GIVES_BACK(_ZdaPvm, (void* p, size_t bytes), (p, bytes))
#undef APO_CPU_TAKES
#undef APO_CPU_GIVES_BACK
extern "C" void* malloc(size_t) noexcept;
extern "C" void free(void*) noexcept;
