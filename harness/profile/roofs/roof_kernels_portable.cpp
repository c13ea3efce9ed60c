// harness/profile/roofs/roof_kernels_portable.cpp - the roofs' loops for any CPU, and the choice among the builds.
#include "harness/profile/roofs/roof_kernels.inl"

namespace apo {

const RoofKernels kPortableRoofKernels = roof_kernels("portable");

const RoofKernels& native_roof_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    return kAvx512RoofKernels;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return kAvx2RoofKernels;
  }
#endif
  return kPortableRoofKernels;
}

}  // namespace apo
