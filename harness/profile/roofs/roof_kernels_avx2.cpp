// harness/profile/roofs/roof_kernels_avx2.cpp - the roofs' loops for AVX2 with FMA, called after a check.
#include "harness/profile/roofs/roof_kernels.inl"

namespace apo {
const RoofKernels kAvx2RoofKernels = roof_kernels("avx2");
}
