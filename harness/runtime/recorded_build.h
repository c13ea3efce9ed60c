// harness/runtime/recorded_build.h - a library variant as what it puts on the GPU, without its host code.
#pragma once

#include "harness/core/records/build.h"
#include "harness/core/records/variant.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Calls the library in a process of its own on drawn inputs of these sizes, and returns the recorded call as a build
// whose kernels a worker launches by itself. It is kept beside the library. A build that cannot be recorded has the
// outcome `refused` and the reason, one that fails its call that failure.
Build recorded_build(const Runtime& runtime, const Configuration& configuration, const Axes& axes,
                     const Build& library);

}  // namespace apo
