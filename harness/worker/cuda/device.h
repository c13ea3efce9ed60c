// harness/worker/cuda/device.h - runs variants on a GPU: loads cubins and libraries, launches, times with events.
#pragma once

#include <memory>
#include <string>

#include "harness/worker/child/device.h"

namespace apo {

// nullptr when there is no usable GPU `index`; `missing` then says why in one sentence. `status` outlives the device.
// `watched`: by a tool that checks memory accesses. Then each tensor is an allocation of its own, outputs and scratch
// are not poisoned, since a write would hide that they are read uninitialised, and launches are not gated, since the
// tool may wait for each.
std::unique_ptr<Device> make_cuda_device(int index, bool watched, SharedStatus& status, std::string& missing);

}  // namespace apo
