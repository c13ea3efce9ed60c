// harness/profile/roofs/roof_kernels.cpp - picks the widest build of the roofs' loops that this CPU can run.
#include "harness/profile/roofs/roof_kernels.h"

namespace apo {

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
