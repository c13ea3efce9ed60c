// harness/profile/roofs/roof_kernels_avx512.cpp - the roofs' loops for AVX-512F, called after a check.
#include "harness/profile/roofs/roof_kernels.inl"

namespace apo {
const RoofKernels kAvx512RoofKernels = roof_kernels("avx512");
}
