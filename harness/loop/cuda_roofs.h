// harness/loop/cuda_roofs.h - what a GPU's memory and L2 can move, measured on it.
#pragma once

#include <vector>

#include "harness/core/records.h"
#include "harness/loop/workbench.h"

namespace apo {

// memory_copy by the driver's own copy, l2_copy by the variant copy/cuda_vector4 on tensors that fit the L2 (left out
// where that cannot be built). `bench` uses target cuda.
std::vector<Roof> measure_cuda_roofs(Workbench& bench, const DeviceFacts& device);

}  // namespace apo
