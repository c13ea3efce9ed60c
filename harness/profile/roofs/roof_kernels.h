// harness/profile/roofs/roof_kernels.h - the inner loops of the roofs, one build an instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace apo {

// Every loop returns a number that depends on all its results, so that no optimiser can remove the work.
struct RoofKernels {
  const char* isa = "";
  int lanes = 1;         // fp32 lanes of one vector
  int fma_per_step = 0;  // independent vector (or scalar) multiply-adds in one step
  float (*vector_fma)(std::int64_t steps, float factor, float addend) = nullptr;
  float (*scalar_fma)(std::int64_t steps, float factor, float addend) = nullptr;
  // Sums an approximated tanh over x[0, count); count is a multiple of 64, x is aligned to 64 bytes.
  float (*tanh_sum)(const float* x, std::size_t count) = nullptr;
  // The same approximation, value by value: relative error below 2^-12 for every finite x.
  void (*tanh_values)(const float* x, float* y, std::size_t count) = nullptr;
  // Copies count floats, a multiple of 64; both pointers are aligned to 64 bytes. `copy_streaming` bypasses the caches.
  void (*copy)(float* to, const float* from, std::size_t count) = nullptr;
  void (*copy_streaming)(float* to, const float* from, std::size_t count) = nullptr;
};

// Selects the widest build that this CPU can run, at run time.
const RoofKernels& native_roof_kernels();

extern const RoofKernels kPortableRoofKernels;
#if defined(__x86_64__)
extern const RoofKernels kAvx2RoofKernels;    // needs AVX2 and FMA
extern const RoofKernels kAvx512RoofKernels;  // needs AVX-512F
#endif

}  // namespace apo
