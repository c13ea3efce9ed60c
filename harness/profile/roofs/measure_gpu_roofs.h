// harness/profile/roofs/measure_gpu_roofs.h - runs the roof kernels on a GPU in a worker, like device variants.
#pragma once

#include <functional>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/worker/parent/worker.h"

namespace apo {

using BuildVariant = std::function<Build(const Family&, const Variant&, const Axes&)>;

// Measures every roof of cuda_roof_kernels() in about two seconds. `variant` is cuda_roof_source() with its metadata.
// On a GPU that cannot run those kernels (before sm_80) it measures only memory_copy, by the driver's own copy. Throws
// EnvironmentError when a roof cannot be measured.
std::vector<Roof> measure_cuda_roofs(const Variant& variant, const BuildVariant& build, const WorkerOptions& options,
                                     const DeviceFacts& device);

}  // namespace apo
