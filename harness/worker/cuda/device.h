// harness/worker/cuda/device.h - runs variants on a GPU: loads cubins and libraries, launches, times with events.
#pragma once

#include <memory>
#include <string>

#include "harness/worker/child/device.h"

namespace apo {

// Returns nullptr when there is no usable GPU `index`, with the reason in `missing`. `status` outlives the device.
// `watched` means that a tool checks memory accesses: each tensor is then an allocation of its own, outputs and scratch
// are not poisoned, since a write would hide that they are read uninitialised, and launches are not gated, since the
// tool may wait for each.
std::unique_ptr<Device> make_cuda_device(int index, bool watched, SharedStatus& status, std::string& missing);

}  // namespace apo
