// harness/profile/roofs/roof_kernels_portable.cpp - the roofs' loops for any CPU of this architecture.
#include "harness/profile/roofs/roof_kernels.inl"

namespace apo {
const RoofKernels kPortableRoofKernels = roof_kernels("portable");
}
