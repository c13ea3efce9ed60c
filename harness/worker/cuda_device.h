// harness/worker/cuda_device.h - runs device variants on a GPU: loads cubins, launches, times with events.
#pragma once

#include <memory>
#include <string>

#include "harness/worker/device.h"

namespace apo {

// nullptr when there is no usable GPU `index`; `missing` then says why in one sentence. `status` outlives the device.
std::unique_ptr<Device> make_cuda_device(int index, SharedStatus& status, std::string& missing);

}  // namespace apo
